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

/// With the brokers' default replication. Nothing as `retention`: records are kept for ever. A topic that
/// exists is left as it is.
Status create_topic(rd_kafka_t* handle, const std::string& name, std::int32_t partitions,
                    std::optional<Duration> retention, Duration timeout);

}  // namespace laneway::kafka
