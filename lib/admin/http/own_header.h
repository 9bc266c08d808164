// The header of each request of laneway's client, which no web page of another site can send, and of each
// answer of laneway's server, by which the client knows that the answer is not another program's.
#pragma once

namespace laneway::admin {

inline constexpr const char* own_header = "X-Laneway";
inline constexpr const char* own_header_value = "1";

}  // namespace laneway::admin
