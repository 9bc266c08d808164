// The request that creates a topic, for Directory::create. Private to this folder.
//
// Threads: any. Blocks up to `timeout`. Errors: unavailable.
#pragma once

#include <librdkafka/rdkafka.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace laneway::kafka {

/// The settings of a created topic, name and value. Records are kept for `retention`; forever if `retention`
/// is nullopt. The topic is not compacted, whatever the brokers' default, because compaction deletes letters.
std::vector<std::pair<const char*, std::string>> topic_settings(std::optional<Duration> retention);

/// Creates a topic with these settings and the brokers' default replication. A topic that exists is not
/// changed.
Status create_topic(rd_kafka_t* handle, const std::string& name, std::int32_t partitions,
                    std::optional<Duration> retention, Duration timeout);

}  // namespace laneway::kafka
