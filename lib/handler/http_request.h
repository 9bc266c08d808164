// What an http request says about its record: the headers, and how bytes that HTTP cannot carry are written.
//
//   Kafka-Topic, Kafka-Partition, Kafka-Offset   always
//   Kafka-Timestamp     ms since 1970; absent where the record has none
//   Kafka-Key           percent-encoded: all bytes but A-Z a-z 0-9 - . _ ~ (RFC 3986, 2.3); absent for a null
//                       key
//   Kafka-Tombstone     "true" for a null value, whose body is empty like that of an empty value
//   Laneway-Attempt     from 1
//   Laneway-Delivery-Id the same whenever the record is sent again; see handler/delivery_id.h
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

std::string percent_encoded(std::string_view bytes);
/// Like that for control characters alone.
std::string without_control_characters(std::string_view value);

/// An HTTP token (RFC 9110, 5.6.2) that is none of the headers laneway or HTTP itself sets.
bool may_be_passed_on(std::string_view header_name);

struct RequestHeader {
  std::string name;
  std::string value;
};

/// `passed_on`: names of headers of records.
std::vector<RequestHeader> request_headers(const Attempt& attempt, const std::vector<std::string>& passed_on);

}  // namespace laneway::handler
