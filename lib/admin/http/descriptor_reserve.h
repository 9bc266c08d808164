// Descriptors that are kept for connections of the admin port, so that a process without free descriptors
// still answers probes and operators.
//
// A number that was in use becomes a reserved number without being free in between, so no other part of the
// process can take it.
//
// Threads: any. Does not block.
#pragma once

#include <fcntl.h>
#include <sys/eventfd.h>

#include <vector>

#include "base/descriptor.h"
#include "base/mutex.h"

namespace laneway::admin {

class DescriptorReserve {
 public:
  /// Keeps `most` descriptors, or as many as are available now.
  explicit DescriptorReserve(std::size_t most) : most_(most), filler_(::eventfd(0, EFD_CLOEXEC)) {
    while (kept_.size() < most_) {
      Descriptor one(::fcntl(filler_.number(), F_DUPFD_CLOEXEC, 0));
      if (one.number() < 0) break;
      kept_.push_back(std::move(one));
    }
  }

  /// Frees one descriptor for the caller's next open. Returns false if none is reserved.
  bool release() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (kept_.empty()) return false;
    kept_.pop_back();
    return true;
  }

  /// Closes `used`; keeps its number if the reserve is not full.
  void end(Descriptor used) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (kept_.size() < most_ && ::dup3(filler_.number(), used.number(), O_CLOEXEC) >= 0)
      kept_.push_back(std::move(used));
  }

 private:
  const std::size_t most_;
  const Descriptor filler_;
  Mutex mutex_;
  std::vector<Descriptor> kept_ GUARDED_BY(mutex_);
};

}  // namespace laneway::admin
