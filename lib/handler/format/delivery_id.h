// What tells a record from all others, the same whenever it is handled again: what a service that must not do
// its work twice remembers.
//
//   <cluster>/<topic>/<partition>/<offset>
//
// Of the cluster it is the id that it gave itself; a cluster without one is left out. The rest is where the
// record was first written, also when it comes from a retry topic. Cluster and topic are percent-encoded (RFC
// 3986, 2.3), so an id needs no escaping, in JSON or in a header.
//
// Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "handler/handler.h"

namespace laneway::handler {

/// The header that carries it, of a request or of a record.
inline constexpr std::string_view delivery_id_header = "Laneway-Delivery-Id";

/// Puts the id of the attempt's record at the end of `out`.
void append_delivery_id(std::string& out, const Attempt& attempt);

/// Puts all bytes but A-Z a-z 0-9 - . _ ~ at the end of `out` as %XX, and those as they are.
void append_percent_encoded(std::string& out, std::string_view bytes);

}  // namespace laneway::handler
