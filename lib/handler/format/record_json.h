// A record as JSON, as programs (handler.exec) and web services (handler.http.batch) are given it:
//
//   {"id":7,"topic":"orders","partition":3,"offset":42,"timestamp":1767323045678,"key":"k","value":"v",
//    "headers":[["tenant","a"],["trace",null]],"attempt":1,
//    "delivery_id":"MkU3OEVBNTcwNTJENDM2Qg/orders/3/42"}
//
// with null for a null key, value or header value, and -1 for no timestamp (ms since 1970). Where a key, a
// value or a header's value of the record is not UTF-8, it has "base64":true as well, and then the key, the
// value and every header's value of that record are base64 (RFC 4648, 4). Names of headers are text; what is
// not UTF-8 in them becomes U+FFFD. `id` is there where the caller gives one; `delivery_id`: delivery_id.h.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "handler/handler.h"

namespace laneway::handler {

/// Without a line's end in it or behind it.
std::string record_json(const Attempt& attempt, std::optional<std::uint64_t> id = {});

}  // namespace laneway::handler
