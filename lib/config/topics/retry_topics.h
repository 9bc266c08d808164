// The names of retry topics: <topic>-retry-<delay>, with the delay as it was written. Pure.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace laneway::config {

std::string retry_topic(const std::string& topic, const RetryDelay& delay);
/// The retry topics of all topics that are listed by name; empty if no delays are configured.
std::vector<std::string> retry_topics(const Config& config);

}  // namespace laneway::config
