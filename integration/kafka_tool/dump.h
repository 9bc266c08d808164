// The verb that reads a whole log, as the tests' independent reader.
#pragma once

#include <string>

namespace kafka_tool {

/// Prints a line for every record from the start to the present end of each partition (partition, offset, key
/// hash or null), then one line a partition with low and end offset. `read_committed` leaves aborted
/// transactions out.
void dump(const std::string& bootstrap, const std::string& topic, bool read_committed);

}  // namespace kafka_tool
