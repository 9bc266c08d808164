// Sends dead letters back to the topics that they came from.
//
// Each record keeps its key, value, timestamp and own headers. The headers that describe the dead letter are
// left out, and a header counts the redrives. A record is sent to its old partition if the topic still has
// that partition, otherwise by its key. Acknowledged records are remembered in the offsets of a group of its
// own, with a completion map, once per second and at the end, so the next redrive sends only records that
// were not sent before. After an interruption by a signal no record is sent twice; after a kill at most the
// records that were acknowledged in the last second are. No record is lost either way.
//
// Letters that stay in the topic are counted by reason: the filter does not select the letter, its origin is
// unknown, does not exist or is not a topic of the configuration (a header must not choose where laneway
// writes), it was sent back too often, it was cut, Kafka did not accept it, or the commit metadata is full.
//
// Two redrives at the same time send no record twice: the first one finishes the records that it is sending,
// and ends; the second one continues (kafka/admin/group_claim.h).
//
// Threads: one, and the producer's own.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "app/dlq/letters.h"
#include "app/dlq/options.h"
#include "base/result.h"

namespace laneway::dlq {

struct Destination {
  std::string topic;
  std::int32_t partition;
};
/// The destination of a letter, or why the letter stays. Pure.
struct Judgement {
  std::optional<Destination> to;
  std::string left;
};
Judgement judge(const Letter& letter, const Options& options, const Targets& targets);

struct Summary {
  std::map<std::string, std::uint64_t> sent;  ///< by topic; in a dry run: records that would be sent
  std::map<std::string, std::uint64_t> left;  ///< by reason; without sent_before
  bool interrupted = false;
  bool taken_over = false;  ///< another redrive took over, or the group forgot this one
  /// Why the redrive ended early, or why Kafka did not accept the first refused record.
  std::optional<Error> error;
  std::uint64_t sent_before = 0;  ///< letters that an earlier redrive sent; only a dry run counts all of them
};
/// Text for a person that ends with what to do next. Pure.
std::string summary_text(const Summary& summary, const Options& options);

/// `targets`: as in judge(). Sends only with options.yes. When `stop` turns true, or another redrive begins,
/// the redrive sends no more records, waits for the answers to records in flight, and commits.
Summary redrive(const config::Config& config, Letters& letters, const Options& options,
                const Targets& targets, const std::atomic<bool>& stop);

}  // namespace laneway::dlq
