// An id that distinguishes a record from all others, and is the same whenever the record is handled again. A
// service that must not do its work twice remembers these ids.
//
//   <cluster>/<topic>/<partition>/<offset>
//   <cluster>/<topic>/<partition>/<offset>/<part>   of a sub-job: with its id (Attempt::part)
//
// <cluster> is the cluster's own id; it is omitted if the cluster has none. The rest is the place where the
// record was first written, even if the record comes from a retry topic. Cluster, topic and part are
// percent-encoded (RFC 3986, 2.3), so an id needs no escaping in JSON or in a header.
//
// Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "handler/handler.h"

namespace laneway::handler {

/// The header that contains the id, in a request or a record.
inline constexpr std::string_view delivery_id_header = "Laneway-Delivery-Id";

/// The header that contains the id of a sub-job, in a request or a record.
inline constexpr std::string_view part_header = "Laneway-Part";

/// Appends the id of the attempt's record to `out`.
void append_delivery_id(std::string& out, const Attempt& attempt);

/// Appends `bytes` to `out`: A-Z a-z 0-9 - . _ ~ unchanged, all other bytes as %XX.
void append_percent_encoded(std::string& out, std::string_view bytes);

}  // namespace laneway::handler
