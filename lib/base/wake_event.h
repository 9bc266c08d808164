// Wakes a thread that waits for descriptors: an eventfd beside the other descriptors. For a thread that waits
// for nothing else, base/signal.h costs less.
//
// Threads: one thread waits and clears, any thread may wake. Nothing blocks.
#pragma once

#include <sys/eventfd.h>

#include <cerrno>
#include <system_error>

#include "base/descriptor.h"

namespace laneway {

class WakeEvent {
 public:
  /// Throws std::system_error.
  WakeEvent() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_.number() < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }

  /// Makes the descriptor readable until clear().
  void wake() const noexcept { ::eventfd_write(descriptor_.number(), 1); }
  void clear() const noexcept {
    eventfd_t count = 0;
    ::eventfd_read(descriptor_.number(), &count);
  }

  /// The descriptor, for poll(2) and epoll(7).
  int number() const { return descriptor_.number(); }

 private:
  const Descriptor descriptor_;
};

}  // namespace laneway
