// Writes records that failed to the topic where they go on, a retry topic or the dead-letter topic: as they
// were, with headers that say where from and why. A record counts as done here when all in-sync replicas
// have it there. One writer for both: they differ in the topic's name, in the headers, and in what follows
// when the topic does not take the record.
//
//   retry topic   (delivery/retry/retry_stages.h, retry_headers.h) with the present time, from which its
//   delay
//                 counts. One that the brokers find too large is answered reject: a record that is to be
//                 tried again must be whole, so it goes to the dead-letter topic.
//   dead letter   (delivery/dead_letter/dead_letter.h) with the record's own timestamp. One that is too large
//   is cut
//                 (delivery/dead_letter/dead_letter_cut.h), one whose timestamp is refused gets the present
//                 one; both are said in its headers and in the log.
//
// To the partition of the same number where the topic has it. Whatever else goes wrong is answered
// unavailable: the lane tries again, and holds.
//
// Ownership: owns its producer; tasks are kept until the brokers have answered. Threads: handle() on any;
// answers come on the producer's thread. Nothing blocks but the destructor (up to 10 s).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "config/config.h"
#include "delivery/dead_letter/dead_letter.h"
#include "handler/handler.h"
#include "kafka/produce/producer.h"

namespace laneway::handler {

class ForwardHandler final : public Handler {
 public:
  /// `partitions`: how many each retry topic and dead-letter topic is known to have; one that is not there
  /// gets any partition.
  static Result<std::unique_ptr<ForwardHandler>> make(const config::Config& config,
                                                      std::map<std::string, std::int32_t> partitions);

  void handle(Task task) noexcept override;
  const kafka::Renewals* renewals() const override { return &producer_->renewals(); }
  std::string name() const override { return "forward"; }

 private:
  class Forward;
  ForwardHandler(const config::Config& config, std::map<std::string, std::int32_t> partitions);

  delivery::DeadLetter dead_letter(const Attempt& attempt) const;
  std::int32_t partition_for(const std::string& topic, std::int32_t origin) const;

  const config::DeadLetter settings_;
  const std::string group_;
  const std::map<std::string, std::int32_t> partitions_;
  std::unique_ptr<kafka::Producer> producer_;  // last: its thread uses what is above
};

}  // namespace laneway::handler
