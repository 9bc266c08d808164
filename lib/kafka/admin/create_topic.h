// The request that creates a topic, for Directory::create. Private to this folder.
//
// Threads: any. Blocks up to `timeout`. Errors: unavailable.
#pragma once

#include <librdkafka/rdkafka.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace laneway::kafka {

/// Creates a topic with the brokers' default replication. Records are kept for `retention`; forever if
/// `retention` is nullopt. A topic that exists is not changed.
Status create_topic(rd_kafka_t* handle, const std::string& name, std::int32_t partitions,
                    std::optional<Duration> retention, Duration timeout);

}  // namespace laneway::kafka
