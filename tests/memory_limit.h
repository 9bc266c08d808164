// The limit on the memory of the process, changed by a test.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

#include "catch.h"
#include "under_sanitizer.h"

namespace laneway {

/// The sanitizers end a process whose memory is limited.
inline constexpr bool memory_can_be_limited = !under_sanitizer;

/// For the life of this the process can take `room` bytes more than it has.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::uint64_t room) {
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    REQUIRE(::getrlimit(RLIMIT_AS, &before_) == 0);
    const rlimit limited{pages * static_cast<std::uint64_t>(::getpagesize()) + room, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_AS, &limited) == 0);
  }
  ~MemoryLimit() { ::setrlimit(RLIMIT_AS, &before_); }
  MemoryLimit(const MemoryLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace laneway
