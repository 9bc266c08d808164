#include "lane/shared/places.h"

#include <algorithm>

namespace laneway::lane {

void Places::set_most(std::uint32_t most) {
  MutexLock lock(mutex_);
  most_ = most;
  call_next();
}

std::uint32_t Places::most() const {
  MutexLock lock(mutex_);
  return most_;
}

std::uint32_t Places::begin(const Asker& asker, std::uint32_t wanted, TimePoint now) {
  MutexLock lock(mutex_);
  std::uint32_t taken = most_ == 0 ? wanted : 0;
  running_ += taken;
  now_ = std::max(now_, now);
  turn_.ask(&asker, now_);
  for (; taken < wanted && running_ < most_ && turn_.first(now_) == &asker; ++taken) {
    turn_.had(&asker, 1);
    ++running_;
  }
  if (taken == wanted) turn_.leave(&asker);
  call_next();
  return taken;
}

void Places::leave(const Asker& asker) {
  MutexLock lock(mutex_);
  turn_.leave(&asker);
  call_next();
}

void Places::take(std::uint32_t records) {
  MutexLock lock(mutex_);
  running_ += records;
}

void Places::end(std::uint32_t records) {
  MutexLock lock(mutex_);
  running_ -= records;
  call_next();
}

std::uint32_t Places::running() const {
  MutexLock lock(mutex_);
  return running_;
}

void Places::call_next() {
  if (most_ > 0 && running_ >= most_) return;
  if (const auto next = turn_.first(now_)) (*next)->signal();
}

}  // namespace laneway::lane
