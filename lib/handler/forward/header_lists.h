// The headers of a record as the client and as the delivery module take them: views, and strings of their
// own. Pure.
#pragma once

#include <vector>

#include "delivery/dead_letter/dead_letter.h"
#include "kafka/record.h"

namespace laneway::handler {

/// Copies of a record's headers.
delivery::Headers headers_of(const kafka::Record& record);
/// Views of `headers`, which stay where they are as long as the views are used.
std::vector<kafka::Header> views_of(const delivery::Headers& headers);

}  // namespace laneway::handler
