// The address that the admin server listens on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/descriptor.h"
#include "base/result.h"

namespace laneway::admin {

struct Address {
  std::string host;  ///< without brackets
  std::uint16_t port = 0;
};
/// Of host:port or [IPv6]:port; nothing for what is neither. Pure.
std::optional<Address> address_of(const std::string& text);

struct Listener {
  Descriptor socket;  ///< listening, not blocking
  std::uint16_t port = 0;
  bool loopback = false;  ///< only this machine can reach it
};

/// `address` is host:port or [IPv6]:port; port 0 takes a free one. Blocks while a name is looked up. Errors:
/// configuration for what is no address; unavailable for one that is unavailable now (taken, unknown, not
/// ours).
Result<Listener> listen_on(const std::string& address);

}  // namespace laneway::admin
