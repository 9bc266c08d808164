// Remembers records that brokers refused, so that `handler.produce` does not let one of them fail the records
// written with it again and again.
//
// Brokers refuse a batch because of one of its records and do not name the record. The records of a refused
// batch are therefore suspect: each is sent while no other record is on its way, and is either written or
// identified as the cause. Inside a transaction, a refusal arrives too late to act on: the whole transaction
// is aborted and retried. The refusal is therefore remembered, and the record's next attempt is answered with
// it instead of being sent.
//
// A refusal counts until the record's next attempt. If the same attempt runs again because another
// transaction failed, the refusal still counts: otherwise two such records would take turns forever. A later
// attempt sends the record again, because its topic may accept it by then.
//
// Threads: one. Pure. Memory: at most 100,000 suspects and 10,000 refusals; beyond that all are forgotten and
// found again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "kafka/produce/producer.h"
#include "kafka/types.h"

namespace laneway::handler {

class ProduceRefusals {
 public:
  /// The place at which a record was read.
  using Origin = std::pair<kafka::TopicPartition, std::int64_t>;

  /// Whether brokers will never accept this record.
  static bool is_refusal(const kafka::Delivery& delivery) {
    return delivery.status == kafka::DeliveryStatus::too_large ||
           delivery.status == kafka::DeliveryStatus::invalid;
  }

  explicit ProduceRefusals(bool transactional) : transactional_(transactional) {}

  /// Why the record must not be sent in this attempt; nullopt if it may be sent.
  std::optional<std::string> refusal(const kafka::TopicPartition& partition, std::int64_t offset,
                                     std::uint32_t attempt);
  /// Returns false if the record may not be sent before another record has been delivered.
  bool may_send(const kafka::TopicPartition& partition, std::int64_t offset) const;
  /// The record is on its way; delivered() follows.
  void sent(const kafka::TopicPartition& partition, std::int64_t offset);
  /// Returns true for a refusal that the record's next attempt will not meet in the same way.
  bool delivered(const kafka::TopicPartition& partition, std::int64_t offset,
                 const kafka::Delivery& delivery);

 private:
  struct Refusal {
    std::string why;
    std::uint32_t told_in = 0;  ///< the attempt that was answered with the refusal; 0 if none yet
  };

  bool is_suspect(const kafka::TopicPartition& partition, std::int64_t offset) const {
    return !suspects_.empty() && suspects_.contains({partition, offset});
  }

  const bool transactional_;
  std::map<Origin, Refusal> refusals_;
  std::set<Origin> suspects_;
  std::uint64_t on_their_way_ = 0;
  bool alone_ = false;  // the record on its way is a suspect
};

}  // namespace laneway::handler
