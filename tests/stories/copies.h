// Copies of a record in the retry and dead-letter topics. The tap gives each copy that a member writes a
// number, in a header, so that the witnesses know which of them is read, runs and is written on. Pure.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <librdkafka/rdkafka.h>

#include "handler/content.h"
#include "stories/facts.h"

namespace laneway::stories {

inline std::string_view text_of(const void* bytes, std::size_t size) {
  return {static_cast<const char*>(bytes), size};
}

/// The number of the copy, 0 for the record itself.
Copy copy_in(const rd_kafka_message_t& message);
Copy copy_in(const handler::Content& record);
/// 0 takes the number away.
void set_copy(rd_kafka_headers_t* headers, Copy copy);

/// What a client is asked to write.
struct Produced {
  Facts::Writing writing;
  rd_kafka_headers_t* headers = nullptr;

  static Produced of(const std::vector<rd_kafka_vu_t>& fields);
};

}  // namespace laneway::stories
