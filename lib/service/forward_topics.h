// The topics to which failed records are written: retry topics and dead-letter topics. Topics that are
// missing at the start are created if that is allowed.
//
// Threads: one. Blocks up to `timeout`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "delivery/retry/retry_stages.h"
#include "kafka/admin/directory.h"

namespace laneway::service {

delivery::RetryStages retry_stages(const config::Config& config);

/// The number of partitions of each topic, all of which exist on success. `sources`: the topics found for
/// `topics`. Errors: unavailable if a topic is missing or must not be created; configuration if a topic would
/// also be consumed as a source.
Result<std::map<std::string, std::int32_t>> find_forward_topics(const config::Config& config,
                                                                const std::vector<kafka::TopicInfo>& sources,
                                                                kafka::Directory& directory,
                                                                Duration timeout);

}  // namespace laneway::service
