// What `handler.produce` knows of records that brokers refused before, so that one of them does not fail what
// is written with it again and again.
//
// Brokers refuse a batch for one of its records and do not say which. So the records of a refused batch are
// suspect: each is sent while nothing else is on its way, and either goes through or is the one. In a
// transaction a refusal is an answer that comes too late, as all of it is aborted and done again: it is
// remembered, and given when the record comes the next time, which then is not sent.
//
// A refusal counts until the record's next attempt, not for the same one after another transaction failed:
// else two such records would take turns for ever. The next attempt sends it again, its topic may take it by
// then.
//
// Threads: one. Pure. Memory: 100,000 suspects and 10,000 refusals at the most; beyond that all are
// forgotten, and found out again.
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
  /// Where a record was read.
  using Origin = std::pair<kafka::TopicPartition, std::int64_t>;

  /// Brokers never take this record.
  static bool is_refusal(const kafka::Delivery& delivery) {
    return delivery.status == kafka::DeliveryStatus::too_large ||
           delivery.status == kafka::DeliveryStatus::invalid;
  }

  explicit ProduceRefusals(bool transactional) : transactional_(transactional) {}

  /// Why the record must not be sent in this attempt.
  std::optional<std::string> refusal(const kafka::TopicPartition& partition, std::int64_t offset,
                                     std::uint32_t attempt);
  /// False: not before something has been delivered.
  bool may_send(const kafka::TopicPartition& partition, std::int64_t offset) const;
  /// It is on its way; delivered() follows.
  void sent(const kafka::TopicPartition& partition, std::int64_t offset);
  /// True when that was a refusal which the record's next attempt will not meet in the same way.
  bool delivered(const kafka::TopicPartition& partition, std::int64_t offset,
                 const kafka::Delivery& delivery);

 private:
  struct Refusal {
    std::string why;
    std::uint32_t told_in = 0;  ///< the attempt that it was the answer to; 0: none yet
  };

  bool is_suspect(const kafka::TopicPartition& partition, std::int64_t offset) const {
    return !suspects_.empty() && suspects_.contains({partition, offset});
  }

  const bool transactional_;
  std::map<Origin, Refusal> refusals_;
  std::set<Origin> suspects_;
  std::uint64_t on_their_way_ = 0;
  bool alone_ = false;  // what is on its way is a suspect
};

}  // namespace laneway::handler
