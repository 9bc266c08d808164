// What an http request says about its record: the headers, and how bytes that HTTP cannot carry are written.
//
//   Kafka-Topic, Kafka-Partition, Kafka-Offset   always
//   Kafka-Timestamp     ms since 1970; absent where the record has none
//   Kafka-Key           percent-encoded: all bytes but A-Z a-z 0-9 - . _ ~ (RFC 3986, 2.3); absent for a null
//                       key
//   Kafka-Tombstone     "true" for a null value, whose body is empty like that of an empty value
//   Laneway-Attempt     from 1
//   Laneway-Delivery-Id the same whenever the record is sent again; see handler/format/delivery_id.h
//   traceparent         passed on where the record has it (W3C Trace Context); of a sampled attempt, its span
//   configured names    passed on, each as often as the record has it; null values are absent
// In values that are passed on, control characters are percent-encoded, so that a producer cannot add
// headers; all other bytes stay.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "handler/handler.h"

namespace laneway::handler {

/// Control characters percent-encoded, all other bytes as they are.
std::string without_control_characters(std::string_view value);

/// An HTTP token (RFC 9110, 5.6.2) that is none of the headers laneway or HTTP itself sets.
bool may_be_passed_on(std::string_view header_name);

/// Header lines in libcurl's notation, each ended by a zero byte: "name: value", and "name;" where the value
/// is blank ("name:" would take a header out). One text, because it is made for every record: its memory is
/// used again.
class RequestHeaders {
 public:
  void clear() { lines_.clear(); }
  void add(std::string_view name, std::string_view value) {
    add_with(name, [&](std::string& line) { line += value; });
  }
  /// `write`: puts the value at the end of the std::string it is given; no control characters.
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

/// Adds those of a record to `headers`. `passed_on`: names of headers of records.
void add_request_headers(const Attempt& attempt, const std::vector<std::string>& passed_on,
                         RequestHeaders& headers);

}  // namespace laneway::handler
