// The limit on open files, changed by a test.
#pragma once

#include <sys/resource.h>

#include "catch.h"

namespace laneway {

/// The soft limit is this for the life of this; below what is open already, nothing more can be opened.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t soft) {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const rlimit limited{soft, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limited) == 0);
  }
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorLimit(const DescriptorLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace laneway
