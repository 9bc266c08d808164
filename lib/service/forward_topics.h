// The topics that records which fail are written to: retry topics and dead-letter topics. What is missing at
// the start is created if that is allowed.
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

/// How many partitions each has that is there now. `sources`: what `topics` has found. Errors: unavailable
/// where a topic is missing or may not be made; configuration where one would be consumed as a source, too.
Result<std::map<std::string, std::int32_t>> find_forward_topics(const config::Config& config,
                                                                const std::vector<kafka::TopicInfo>& sources,
                                                                kafka::Directory& directory,
                                                                Duration timeout);

}  // namespace laneway::service
