// Sends dead letters back to work.
//
// Each record goes as it was: key, value, timestamp and its own headers, without those that describe the dead
// letter, and with the count of its redrives. It is sent to the partition it came from where its origin still
// has that one, else by its key. What was acknowledged is remembered in offsets of a group of its own
// (completion map included), once a second and at the end, so the next redrive sends only what was not sent
// before. After an interruption by a signal nothing is sent twice; after a kill at most what was acknowledged
// in the last second; nothing is lost either way.
//
// What stays in the topic is counted by why: it does not match the filter, has no origin, its origin is not a
// topic of the configuration (a header must not choose where we write) or does not exist, it was sent back
// too often, it was cut, Kafka would not take it, or there is no room in the commit to remember it.
//
// Two redrives at once send nothing twice either: the one that began first finishes what is on its way, and
// ends; the other goes on from there (kafka/admin/group_claim.h).
//
// Threads: one, beside the producer's.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "app/dlq/letters.h"
#include "app/dlq/options.h"
#include "base/result.h"

namespace laneway::dlq {

struct Destination {
  std::string topic;
  std::int32_t partition;
};
/// Where a letter goes, or why it stays. Pure.
struct Judgement {
  std::optional<Destination> to;
  std::string left;
};
Judgement judge(const Letter& letter, const Options& options, const Targets& targets);

struct Summary {
  std::map<std::string, std::uint64_t> sent;  ///< by topic; in a dry run what would be sent
  std::map<std::string, std::uint64_t> left;  ///< by why; what was sent before is not counted
  bool interrupted = false;
  bool taken_over = false;  ///< another redrive has begun, or the group forgot this one
  /// What ended it early, or the first record that Kafka did not take.
  std::optional<Error> error;
};
/// For a person; ends with what to do next. Pure.
std::string summary_text(const Summary& summary, const Options& options);

/// `targets` as judge() takes them. Sends only with options.yes. When `stop` turns true, or another redrive
/// begins, it sends no more, waits for what is on its way, and commits.
Summary redrive(const config::Config& config, Letters& letters, const Options& options,
                const Targets& targets, const std::atomic<bool>& stop);

}  // namespace laneway::dlq
