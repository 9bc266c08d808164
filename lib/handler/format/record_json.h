// A record as JSON, as it is sent to programs (handler.exec) and web services (handler.http.batch):
//
//   {"id":7,"topic":"orders","partition":3,"offset":42,"timestamp":1767323045678,"key":"k","value":"v",
//    "headers":[["tenant","a"],["trace",null]],"attempt":1,
//    "delivery_id":"MkU3OEVBNTcwNTJENDM2Qg/orders/3/42"}
//
// A null key, value or header value is null, and a missing timestamp is -1 (ms since 1970). If the key, the
// value or a header's value of the record is not UTF-8, the object has "base64":true, and the key, the value
// and every header's value of that record are base64 (RFC 4648, 4). Names of headers are text; bytes that are
// not UTF-8 become U+FFFD. `id` is present if the caller gives an id; `delivery_id`: see delivery_id.h. The
// record of a sub-job has "part": its id (Attempt::part), after the delivery id.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "handler/handler.h"

namespace laneway::handler {

/// Contains no line break, and ends without one.
std::string record_json(const Attempt& attempt, std::optional<std::uint64_t> id = {});

}  // namespace laneway::handler
