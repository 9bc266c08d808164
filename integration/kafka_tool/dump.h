// The verb that reads a whole log, as the tests' independent reader.
#pragma once

#include <librdkafka/rdkafka.h>

#include <functional>
#include <string>

namespace kafka_tool {

/// Prints a line for every record from the start to the present end of each partition (partition, offset, key
/// hash or null), then one line a partition with low and end offset. `read_committed` leaves aborted
/// transactions out.
void dump(const std::string& bootstrap, const std::string& topic, bool read_committed);

/// The same records, given to `use` one by one.
void for_each_record(const std::string& bootstrap, const std::string& topic, bool read_committed,
                     const std::function<void(const rd_kafka_message_t&)>& use);

}  // namespace kafka_tool
