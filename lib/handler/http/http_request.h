// The headers of an http request that describe its record, and the encoding of bytes that HTTP cannot carry.
//
//   Kafka-Topic, Kafka-Partition, Kafka-Offset   always
//   Kafka-Timestamp     ms since 1970; absent if the record has no timestamp
//   Kafka-Key           percent-encoded: all bytes but A-Z a-z 0-9 - . _ ~ (RFC 3986, 2.3); absent for a null
//                       key
//   Kafka-Tombstone     "true" for a null value, whose body is empty like that of an empty value
//   Laneway-Attempt     from 1
//   Laneway-Part        the id of a sub-job, percent-encoded
//   Laneway-Delivery-Id the same each time the record is sent; see handler/format/delivery_id.h
//   traceparent         passed on if the record has it (W3C Trace Context); a sampled attempt sends its span
//   configured names    passed on, each as often as the record has it; null values are absent
// In values that are passed on, control characters are percent-encoded, so that a producer cannot add
// headers; all other bytes are unchanged.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "handler/handler.h"

namespace laneway::handler {

/// `value` with control characters percent-encoded, and all other bytes unchanged.
std::string without_control_characters(std::string_view value);

/// Whether the name is an HTTP token (RFC 9110, 5.6.2) that neither laneway nor HTTP itself sets.
bool may_be_passed_on(std::string_view header_name);

/// Header lines in libcurl's notation, each ended by a zero byte: "name: value", or "name;" if the value is
/// blank ("name:" would remove a header). All lines are one text whose memory is reused, because it is made
/// for every record.
class RequestHeaders {
 public:
  void clear() { lines_.clear(); }
  void add(std::string_view name, std::string_view value) {
    add_with(name, [&](std::string& line) { line += value; });
  }
  /// `write`: appends the value to a std::string; no control characters.
  template <typename Write>
  void add_with(std::string_view name, Write write) {
    const auto end_of_name = lines_.size() + name.size();
    lines_.append(name).append(": ");
    write(lines_);
    if (lines_.find_first_not_of(' ', end_of_name + 1) == std::string::npos)
      lines_.replace(end_of_name, std::string::npos, ";");
    lines_ += '\0';
  }
  const std::string& lines() const { return lines_; }

 private:
  std::string lines_;
};

/// Adds the traceparent and the record headers named in `passed_on` to `headers`.
void add_passed_on_headers(const Attempt& attempt, const std::vector<std::string>& passed_on,
                           RequestHeaders& headers);

/// Adds the headers of a record to `headers`. `passed_on`: names of record headers to pass on.
void add_request_headers(const Attempt& attempt, const std::vector<std::string>& passed_on,
                         RequestHeaders& headers);

}  // namespace laneway::handler
