#include "pool/permits.h"

#include <algorithm>

namespace laneway::pool {

Permits::Permits(std::uint32_t limit) : limit_(std::max(limit, 1U)) {}

void Permits::set_limit(std::uint32_t limit) {
  {
    MutexLock lock(mutex_);
    limit_ = std::max(limit, 1U);
  }
  for (;;) {
    Waiter* next = nullptr;
    {
      MutexLock lock(mutex_);
      next = next_in_turn();
    }
    if (next == nullptr) return;
    next->permitted();  // may wait again, behind the others
  }
}

std::uint32_t Permits::limit() const {
  MutexLock lock(mutex_);
  return limit_;
}

std::uint32_t Permits::in_use() const {
  MutexLock lock(mutex_);
  return in_use_;
}

std::uint32_t Permits::waiting() const {
  MutexLock lock(mutex_);
  return static_cast<std::uint32_t>(waiters_.size());
}

bool Permits::take(Waiter& waiter) {
  MutexLock lock(mutex_);
  if (waiters_.empty() && free()) {
    ++in_use_;
    return true;
  }
  waiters_.push_back(&waiter);
  return false;
}

bool Permits::available(Waiter& waiter) {
  MutexLock lock(mutex_);
  if (waiters_.empty() && free()) return true;
  waiters_.push_back(&waiter);
  return false;
}

bool Permits::leave(Waiter& waiter) {
  MutexLock lock(mutex_);
  const auto it = std::find(waiters_.begin(), waiters_.end(), &waiter);
  if (it == waiters_.end()) return false;
  waiters_.erase(it);
  return true;
}

Permits::Waiter* Permits::give_back() {
  MutexLock lock(mutex_);
  --in_use_;
  return next_in_turn();
}

/// Takes a permit for the waiter that it returns; null if nobody waits or no permit is free.
Permits::Waiter* Permits::next_in_turn() {
  if (waiters_.empty() || !free()) return nullptr;
  Waiter* next = waiters_.front();
  waiters_.pop_front();
  ++in_use_;
  return next;
}

}  // namespace laneway::pool
