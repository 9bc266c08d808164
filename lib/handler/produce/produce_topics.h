// Whether the topics that `handler.produce` writes to are there, before anything is read.
//
// Blocks up to `timeout`. Topics that only a header names are asked for as well.
#pragma once

#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "kafka/admin/directory.h"

namespace laneway::handler {

/// The output topics, each once. `inputs`: what is read, as `directory` of the input's cluster has found it.
/// Errors: as find_output_topics() in handler/registry.h has them.
Result<std::vector<kafka::TopicInfo>> find_produce_topics(const config::Config& config,
                                                          const config::ProduceSettings& produce,
                                                          const std::vector<kafka::TopicInfo>& inputs,
                                                          kafka::Directory& directory, Duration timeout);

}  // namespace laneway::handler
