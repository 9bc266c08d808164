// Writes records that were given up to the dead-letter topic: as they were, with headers that say where from
// and why (delivery/dead_letter.h). A record counts as done when all in-sync replicas have it.
//
// To the partition of the same number where the topic has it. One that the brokers find too large is cut
// (delivery/dead_letter_cut.h), one whose timestamp they refuse gets the present one; both are said in its
// headers and in the log. Whatever else goes wrong is answered unavailable: the lane tries again, and holds.
//
// Flood guard: more than `max_rate` dead letters a second over a minute are not poison but an outage that the
// handler takes for the records' fault; then letters wait, and with them their lanes.
//
// Ownership: owns its producer; tasks are kept until the brokers have answered. Threads: handle() on any;
// answers come on the producer's thread. Nothing blocks but the destructor (up to 10 s).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "config/config.h"
#include "delivery/dead_letter.h"
#include "delivery/token_bucket.h"
#include "handler/handler.h"
#include "kafka/producer.h"

namespace laneway::handler {

class DeadLetterHandler final : public Handler {
 public:
  /// `partitions`: how many each dead-letter topic is known to have; one that is not there gets any
  /// partition.
  static Result<std::unique_ptr<DeadLetterHandler>> make(const config::Config& config,
                                                         std::map<std::string, std::int32_t> partitions);

  void handle(Task task) noexcept override;
  std::string name() const override { return "dead letters"; }

 private:
  class Letter;
  DeadLetterHandler(const config::Config& config, std::map<std::string, std::int32_t> partitions);

  Duration flood_wait() EXCLUDES(mutex_);
  delivery::DeadLetter describe(const Attempt& attempt) const;
  std::int32_t partition_for(const std::string& topic, std::int32_t origin) const;

  const config::DeadLetter settings_;
  const std::string group_;
  const std::map<std::string, std::int32_t> partitions_;
  Mutex mutex_;
  delivery::TokenBucket rate_ GUARDED_BY(mutex_);
  std::unique_ptr<kafka::Producer> producer_;  // last: its thread uses what is above
};

}  // namespace laneway::handler
