// What laneway reads from the client's statistics. Private to this folder.
#pragma once

#include <string_view>

#include "kafka/group/consumer.h"

namespace laneway::kafka {

/// Nothing fetched and connected on text that is not what the library documents.
Statistics read_statistics(std::string_view text);

}  // namespace laneway::kafka
