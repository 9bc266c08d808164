// The address that the admin server listens on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"

namespace laneway::admin {

struct Address {
  std::string host;  ///< without brackets
  std::uint16_t port = 0;
  std::uint16_t last = 0;  ///< the same as `port`, or the last port of a range
};
/// Parses host:port, [IPv6]:port or host:first-last; nullopt for other text. Pure.
std::optional<Address> address_of(const std::string& text);
/// host:port for each port of the range, or `text` alone. Pure.
std::vector<std::string> addresses_in(const std::string& text);

struct Listener {
  Descriptor socket;  ///< listening, non-blocking
  std::uint16_t port = 0;
  bool loopback = false;  ///< only this machine can reach it
};

/// `address` is host:port or [IPv6]:port; port 0 takes a free one. Of a range of ports, the first that no
/// other program has. Blocks while a name is looked up. Errors: configuration if the text is no address;
/// unavailable if the address cannot be used now (taken, unknown, or not of this machine).
Result<Listener> listen_on(const std::string& address);

}  // namespace laneway::admin
