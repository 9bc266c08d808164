// Sends bytes through a socket, for tests that speak to a server or a client byte for byte.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <string_view>

namespace laneway {

/// Blocks until the system has taken them. Returns false if the other side has gone.
inline bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace laneway
