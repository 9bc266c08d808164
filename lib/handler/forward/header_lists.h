// Converts the headers of a record between the views that the client uses and the strings that the delivery
// module uses. Pure.
#pragma once

#include <vector>

#include "delivery/dead_letter/dead_letter.h"
#include "kafka/record.h"

namespace laneway::handler {

/// Copies of a record's headers.
delivery::Headers headers_of(const kafka::Record& record);
/// Views of `headers`, which must not move or change while the views are used.
std::vector<kafka::Header> views_of(const delivery::Headers& headers);

}  // namespace laneway::handler
