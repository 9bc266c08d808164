// The text of a record that decides about it: the pool that it goes to (config::Route), or the subscriber
// whose limits apply to it (config::Each). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/pools.h"
#include "kafka/record.h"

namespace laneway::handler {

/// nullopt if the record has no such key, header, text or number at the place in the value, or part. Of
/// several headers with the name, the last one counts.
std::optional<std::string> selected_text(const config::Selector& selector, const kafka::Record& record,
                                         std::string_view part);

}  // namespace laneway::handler
