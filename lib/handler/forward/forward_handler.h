// Writes records that failed to the topic where they go next, a retry topic or the dead-letter topic:
// unchanged, with headers that name the origin and the reason. A record counts as done here when all in-sync
// replicas have it. One class writes both; they differ in the topic's name, in the headers, and in what
// follows if the topic does not accept the record.
//
//   retry topic   (delivery/retry/retry_steps.h, retry_headers.h) A record that is too large for the brokers
//                 is answered reject: a record that is to be tried again must be complete, so it goes to the
//                 dead-letter topic.
//   dead letter   (delivery/dead_letter/dead_letter.h) A record that is too large is cut
//                 (delivery/dead_letter/dead_letter_cut.h); headers and log mention it.
//
// The timestamp is the time of writing; a header has the record's own. Retention and the delay of a retry
// topic count from the time of writing: with its own timestamp, an old record would be deleted at once.
//
// The record keeps its partition number if the topic has that partition. Every other failure is answered
// unavailable: the lane tries again, and holds.
//
// Ownership: owns its producer; tasks are kept until the brokers have answered. Threads: handle() on any;
// answers come on the producer's thread. Nothing blocks except the destructor (up to 10 s).
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
  /// `partitions`: the known number of partitions of each retry topic and dead-letter topic. Records for a
  /// topic that is not listed go to any partition.
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

  const config::DeadLetterSettings settings_;
  const std::string group_;
  const std::map<std::string, std::int32_t> partitions_;
  std::unique_ptr<kafka::Producer> producer_;  // last, because its thread uses the members above
};

}  // namespace laneway::handler
