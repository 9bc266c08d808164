// One pool's use of the permits that it shares with other pools (permits.h): whether it waits for one, and
// the permits that were handed to it for claims that have not begun yet.
//
// Threads: guarded by the pool's mutex. Nothing blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "pool/permits.h"

namespace laneway::pool {

/// Waiters that got a permit: call permitted() of each without holding a lock.
using Permitted = std::vector<Permits::Waiter*>;

class PermitUse {
 public:
  PermitUse(Permits& permits, Permits::Waiter& waiter) : permits_(permits), waiter_(waiter) {}

  /// Takes a permit for a claim that begins now. Otherwise the pool waits until granted() is called.
  bool obtain() {
    if (unused_ > 0) {
      --unused_;
      return true;
    }
    if (!waiting_) waiting_ = !permits_.take(waiter_);
    return !waiting_;
  }
  /// Whether a thread that is woken for a claim can expect a permit. Otherwise the pool waits until granted()
  /// is called.
  bool in_sight() {
    if (!waiting_) waiting_ = !permits_.available(waiter_);
    return !waiting_;
  }
  void granted() {
    waiting_ = false;
    ++unused_;
  }
  void stop_waiting() {
    if (waiting_ && permits_.leave(waiter_)) waiting_ = false;
  }

  /// In the queue of waiters, or granted() is about to be called.
  bool waiting() const { return waiting_; }
  /// Permits that were granted for claims that have not begun.
  std::uint32_t unused() const { return unused_; }
  /// Gives back permits so that at most `keep` unused ones are left.
  void give_back_unused(std::uint32_t keep, Permitted& to) {
    for (; unused_ > keep; --unused_) give_back(to);
  }
  /// Gives back the permit of a claim.
  void give_back(Permitted& to) {
    if (auto* next = permits_.give_back()) to.push_back(next);
  }

 private:
  Permits& permits_;
  Permits::Waiter& waiter_;
  bool waiting_ = false;
  std::uint32_t unused_ = 0;
};

}  // namespace laneway::pool
