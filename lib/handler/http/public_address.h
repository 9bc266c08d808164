// Whether an address belongs to the internet, and not to a private network, to this machine or to a special
// purpose (IANA's registries of special-purpose addresses, RFC 6890). A service that lets others name the
// URLs that it calls must not call what only it can reach. Pure.
#pragma once

struct sockaddr;

namespace laneway::handler {

/// False for families other than IPv4 and IPv6. Addresses of IPv6 that contain one of IPv4 (mapped, NAT64,
/// 6to4) are judged by it.
bool is_public(const sockaddr& address);

}  // namespace laneway::handler
