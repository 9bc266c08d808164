// The text of a record that decides about it: the pool that it goes to (config::Route), the subscriber
// whose limits apply to it (config::Each), or the only sub-job that is to run. Pure.
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

/// The id of the sub-job that the record comes back for, from a retry topic or a dead-letter topic; empty if
/// every sub-job of the record is wanted.
std::string wanted_sub_job(const kafka::Record& record);

}  // namespace laneway::handler
