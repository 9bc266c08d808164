// The address that the admin server listens on.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace laneway::admin {

/// A file descriptor with an owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }

  int number() const { return number_; }
  void close() noexcept;

 private:
  int number_ = -1;
};

struct Listener {
  Descriptor socket;  ///< listening, not blocking
  std::uint16_t port = 0;
};

/// `address` is host:port or [IPv6]:port; port 0 takes a free one. Blocks while a name is looked up. Errors:
/// configuration for what is no address; unavailable for one that cannot be had now (taken, unknown, not
/// ours).
Result<Listener> listen_on(const std::string& address);

}  // namespace laneway::admin
