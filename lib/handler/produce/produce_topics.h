// Checks that the topics that `handler.produce` writes to exist, before any record is read.
//
// Blocks up to `timeout`. Topics that only a header can name are checked as well.
#pragma once

#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "kafka/admin/directory.h"

namespace laneway::handler {

/// The output topics, each once. `inputs`: the input topics, as found by `directory` in the input's cluster.
/// Errors: as in find_output_topics() in handler/registry.h.
Result<std::vector<kafka::TopicInfo>> find_produce_topics(const config::Config& config,
                                                          const config::ProduceSettings& produce,
                                                          const std::vector<kafka::TopicInfo>& inputs,
                                                          kafka::Directory& directory, Duration timeout);

}  // namespace laneway::handler
