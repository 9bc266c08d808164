// The rows of the schema for `handler.produce`, and what contradicts in them. Pure, but for secrets in files.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "config/property.h"

namespace laneway::config {

void add_produce(std::vector<Property>& table);

/// Where `produce` would write records that came from `topic` and have no topic header.
std::string output_topic(const ProduceHandler& produce, const std::string& topic);

/// A topic that is read and would be written to as well, so that its records would go round for ever; empty
/// when there is none among the topics that are named.
std::string looping_topic(const Config& config, const ProduceHandler& produce);

}  // namespace laneway::config
