// What a commit stores in the brokers, as values, and the only reader and writer of its text. The text is the
// metadata of the committed offset: fields, then the completion map (ledger/completion_map.h).
//
//   lives=2 by=7 topic=7kQ0m2XwTzu7v5n0mQmR3A suspended=1764160000000 failed=3,1,12 laneway1:6AcCAwrIAdIyeeU
//
// A field is a name of small letters, "=", a value without spaces, and a space. Fields that this version does
// not know are skipped, so a later version may add some. The marker of the crash watch comes first, and the
// map last, because older versions read the text so; they ignore a map behind any other field, and the
// records in such a map run again.
//
// `topic` (or `cluster`, if the brokers or the client library have no ids of topics) names the log that the
// offsets belong to. MirrorMaker copies the text with the offset to another cluster, where the same offset
// may be another record: a map would then leave out records that were never processed.
//
// `failed` has the suspects: the distance of the first from the committed offset, then of each from the one
// before. `suspended` (or `resumed`) is the last decision of an operator about the partition, with its time
// in milliseconds since 1970 (shared/suspensions.h).
//
// Pure: no threads, no clock; throws nothing except std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kafka/types.h"
#include "lane/ledger/completion_map.h"
#include "lane/shared/crash_watch.h"
#include "lane/shared/suspensions.h"

namespace laneway::lane {

/// Which log a lane reads. Empty: not known.
struct LogName {
  std::string topic;    ///< the id of the topic, as `kafka-topics --describe` prints it
  std::string cluster;  ///< the id of the cluster

  friend bool operator==(const LogName&, const LogName&) = default;
};

struct StoredCommit {
  kafka::TopicPartition partition{};
  std::int64_t offset = kafka::no_offset;
  std::string topic_id{};  ///< of the topic when the commit was read; empty if not known
  LogName log{};           ///< what the writer knew; both are empty if an older version wrote the text
  LifeMarker lives{};
  std::optional<Suspension> suspension{};
  std::vector<std::int64_t> suspects{};  ///< offsets in rising order (ledger/suspects.h)
  CompletionMap map{offset, {}};         ///< for this offset
  std::string map_error{};  ///< why the map that was stored cannot be read; empty if it can, or there is none

  bool has_map() const { return !map.runs.empty() || !map_error.empty(); }
  /// Whether the map must be ignored because the id of the topic could not be read.
  bool lacks_id() const { return topic_id.empty() && !log.topic.empty() && has_map(); }

  /// A field that makes no sense counts as absent. A negative offset counts as no_offset.
  static StoredCommit read(const kafka::CommittedOffset& committed);
  /// For the brokers. The text has at most `most` bytes: the map is cut first, a suspension last. A map that
  /// must be `whole` is not cut. The log is named if there is a map, a suspect or a suspension.
  kafka::CommittedOffset written(std::size_t most = default_map_bytes, bool whole = false) const;
};

/// Why what was stored for the log `stored` must not be used for the log `own`; nullopt if it may be used.
/// What names a log that cannot be compared must not be used either.
std::optional<std::string> foreign(const LogName& stored, const LogName& own);

}  // namespace laneway::lane
