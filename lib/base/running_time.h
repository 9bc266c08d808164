// The time in which a process runs: the machine's time without the standstills of the process, in which it
// was stopped (SIGSTOP), its machine was suspended, or it was given no processor.
//
// A process learns of a standstill only afterwards, by a gap between two readings. So gaps count while
// somebody reads regularly (standstill_watch.h), and only those of at least `shortest`. The first reading
// after a gap takes the gap out, whichever thread it is of: no deadline is seen to have passed meanwhile.
//
// Threads: any. A reading costs one reading of the machine's clock and three loads; twenty times a second one
// takes a lock as well. Pure: the machine's time is given in, in nanoseconds since any origin.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>

namespace laneway {

class RunningTime {
 public:
  using Nanoseconds = std::chrono::nanoseconds;
  static constexpr Nanoseconds shortest = std::chrono::seconds(1);

  /// `machine` returns the machine's time. Never goes back.
  template <class Machine>
  Nanoseconds read(Machine machine) {
    for (;;) {
      const auto stood = stood_.load(std::memory_order_acquire);
      const Nanoseconds at = machine();
      if (at - last_.load(std::memory_order_acquire) >= between_notes) note(at);
      // Else it was read before a standstill that another thread has taken out meanwhile.
      if (stood_.load(std::memory_order_acquire) == stood) return at - stood;
    }
  }

  /// How long the process has stood still in all.
  Nanoseconds stood_still() const { return stood_.load(std::memory_order_acquire); }

  /// When it was by the machine's time. Of the last standstills it is known when they were; times before
  /// those come out too late.
  Nanoseconds on_machine(Nanoseconds running) const {
    if (stood_still() == Nanoseconds::zero()) return running;
    const std::lock_guard lock(mutex_);
    Nanoseconds before{};
    for (std::size_t i = 0; i < standstills_.size(); ++i) {
      const auto& standstill = standstills_[(next_ + i) % standstills_.size()];  // the oldest first
      if (standstill.until > running) break;
      before = standstill.in_all;
    }
    return running + before;
  }

  /// From now until end_watch() somebody reads much more often than `shortest`.
  template <class Machine>
  void begin_watch(Machine machine) {
    note(machine());  // what was before may have been any length
    const std::lock_guard lock(mutex_);
    ++watches_;
  }
  void end_watch() {
    const std::lock_guard lock(mutex_);
    --watches_;
  }

 private:
  static constexpr Nanoseconds between_notes = std::chrono::milliseconds(50);
  struct Standstill {
    Nanoseconds until{};  // running time
    Nanoseconds in_all{};
  };

  void note(Nanoseconds at) {
    const std::lock_guard lock(mutex_);
    const auto last = last_.load(std::memory_order_relaxed);
    if (at <= last) return;
    // Others have read up to a note's distance from the last one.
    if (watches_ > 0 && at - last >= shortest) {
      const auto before = stood_.load(std::memory_order_relaxed);
      const auto in_all = before + at - last - between_notes;
      standstills_[next_++ % standstills_.size()] = {at - in_all, in_all};
      stood_.store(in_all, std::memory_order_release);
    }
    last_.store(at, std::memory_order_release);
  }

  std::atomic<Nanoseconds> last_{Nanoseconds{}};   // noted, by the machine's time
  std::atomic<Nanoseconds> stood_{Nanoseconds{}};  // in all
  mutable std::mutex mutex_;                       // not base/mutex.h, which needs the clock
  std::array<Standstill, 16> standstills_{};
  std::size_t next_ = 0;
  int watches_ = 0;
};

}  // namespace laneway
