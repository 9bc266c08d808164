// What a commit records beside its offset: fields, then the completion map (ledger/completion_map.h).
//
//   lives=2 by=7 topic=7kQ0m2XwTzu7v5n0mQmR3A suspended=1764160000000 laneway1:6AcCAwrIAdIyeeU
//
// A field is a name of small letters, "=", a value without spaces, and a space. Fields that this version does
// not know are skipped, so a later version may add some. The marker of the crash watch comes first, and the
// map last, because older versions read the metadata so; they ignore a map behind any other field, and
// the records in such a map run again.
//
// `topic` (or `cluster`, if the brokers or the client library have no ids of topics) names the log that the
// offsets belong to. MirrorMaker copies the metadata with the offset to another cluster, where the same
// offset may be another record: a map would then leave out records that were never processed.
//
// `failed` has the suspects (ledger/suspects.h). `suspended` (or `resumed`) is the last decision of an
// operator about the partition, with its time in milliseconds since 1970 (shared/suspensions.h).
//
// Pure: no threads, no clock; throws nothing except std::bad_alloc.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lane/shared/crash_watch.h"
#include "lane/shared/suspensions.h"

namespace laneway::lane {

/// Which log a lane reads. Empty: not known.
struct LogName {
  std::string topic;    ///< the id of the topic, as `kafka-topics --describe` prints it
  std::string cluster;  ///< the id of the cluster
};

struct CommitMetadata {
  LifeMarker lives{};
  LogName log{};  ///< what the writer knew; both are empty if an older version wrote the metadata
  std::optional<Suspension> suspension{};
  /// The completion map, or text that laneway did not write.
  std::string map{};
  std::string suspects{};  ///< the field of ledger/suspects.h, with its name; empty if there is none
};

/// The fields of `metadata`, without its map. Of the log, the topic is written if it is known, and otherwise
/// the cluster.
std::string fields_of(const CommitMetadata& metadata);
CommitMetadata read_metadata(std::string_view text);

/// Why metadata that was written for the log `written` must not be used for the log `own`; nullopt if it may
/// be used. Metadata that names a log which cannot be compared must not be used either.
std::optional<std::string> foreign(const LogName& written, const LogName& own);

}  // namespace laneway::lane
