// The limit on open files, changed by a test.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <vector>

#include "base/descriptor.h"
#include "catch.h"

namespace laneway {

// To look at the type of an object, Clang's sanitizer of undefined behaviour opens a pipe; where it cannot,
// it reports every object as a fault. With it, tests without any free descriptor end before they begin.
#if defined(__has_feature)
#if __has_feature(undefined_behavior_sanitizer)
inline constexpr bool sanitizer_needs_descriptors = true;
#else
inline constexpr bool sanitizer_needs_descriptors = false;
#endif
#else
inline constexpr bool sanitizer_needs_descriptors = false;
#endif

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

/// For the life of this every number below the limit is in use.
class AllDescriptors {
 public:
  AllDescriptors() {
    for (Descriptor one(::dup(0)); one.number() >= 0; one = Descriptor(::dup(0)))
      all_.push_back(std::move(one));
    REQUIRE_FALSE(all_.empty());
  }

 private:
  const DescriptorLimit limit_{256};
  std::vector<Descriptor> all_;
};

}  // namespace laneway
