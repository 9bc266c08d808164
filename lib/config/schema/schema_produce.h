// The rows of the schema for `handler.produce`, and what contradicts in them. Pure, but for secrets in files.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "config/schema/property.h"
#include "config/yaml/settings.h"

namespace laneway::config {

void add_produce(std::vector<Property>& table);

/// What is not set has other defaults with `transactional`: readers see a record when its transaction ends,
/// and wait for one that a killed process left open.
void set_defaults_of_transactions(Config& config, const Settings& settings);

/// Where `produce` would write records that came from `topic` and have no topic header.
std::string output_topic(const ProduceSettings& produce, const std::string& topic);

/// A topic that is read and would be written to as well, so that its records would go round for ever; empty
/// when there is none among the topics that are named.
std::string looping_topic(const Config& config, const ProduceSettings& produce);

}  // namespace laneway::config
