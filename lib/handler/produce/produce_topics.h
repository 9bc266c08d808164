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

/// The output topics, each once; none for other handlers. `inputs`: what is read, as `directory` of the
/// input's cluster has found it. Errors: unavailable as Directory says; configuration where a topic would be
/// read and written, or has too few partitions to keep the numbers.
Result<std::vector<kafka::TopicInfo>> find_output_topics(const config::Config& config,
                                                         const std::vector<kafka::TopicInfo>& inputs,
                                                         kafka::Directory& directory, Duration timeout);

}  // namespace laneway::handler
