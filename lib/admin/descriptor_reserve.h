// Descriptors that are kept for connections of the admin port, so that probes and operators are answered also
// by a process that has run out of them.
//
// A number that was in use becomes a reserved one without being free in between: others that wait for one
// cannot take it.
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
  /// Keeps `most`, or as many as there are now.
  explicit DescriptorReserve(std::size_t most) : most_(most), filler_(::eventfd(0, EFD_CLOEXEC)) {
    while (kept_.size() < most_) {
      Descriptor one(::fcntl(filler_.number(), F_DUPFD_CLOEXEC, 0));
      if (one.number() < 0) break;
      kept_.push_back(std::move(one));
    }
  }

  /// Frees one for whoever opens something next. False: there is none.
  bool release() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (kept_.empty()) return false;
    kept_.pop_back();
    return true;
  }

  /// Ends what `used` is; its number is kept where one is missing.
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
