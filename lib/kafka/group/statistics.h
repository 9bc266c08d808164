// The part of the client's statistics that laneway reads. Private to this folder.
#pragma once

#include <string_view>

#include "kafka/group/consumer.h"

namespace laneway::kafka {

/// Parses the statistics. A text that does not have the library's documented format yields no fetched bytes,
/// and `connected`.
Statistics read_statistics(std::string_view text);

}  // namespace laneway::kafka
