// The time during which a process runs: the machine's time without the standstills of the process, during
// which the process was stopped (SIGSTOP), its machine was suspended, or it got no processor time.
//
// A process learns of a standstill only afterwards, from a gap between two readings. So gaps count only while
// some thread reads regularly (standstill_watch.h), and only if they last at least `shortest`. The first
// reading after a gap removes the gap, on whichever thread it is: no deadline passes during a standstill.
//
// Threads: any. A reading costs one reading of the machine's clock and three loads; twenty times a second a
// reading also takes a lock. Pure: the caller gives the machine's time, in nanoseconds since any origin.
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

  /// `machine` returns the machine's time. The result never goes back.
  template <class Machine>
  Nanoseconds read(Machine machine) {
    for (;;) {
      const auto stood = stood_.load(std::memory_order_acquire);
      const Nanoseconds at = machine();
      if (at - last_.load(std::memory_order_acquire) >= between_notes) note(at);
      // Otherwise the time was read before a standstill that another thread has removed in the meantime.
      if (stood_.load(std::memory_order_acquire) == stood) return at - stood;
    }
  }

  /// The total time that the process has stood still.
  Nanoseconds stood_still() const { return stood_.load(std::memory_order_acquire); }

  /// Converts a time to the machine's time. The places of the last standstills are known; times before those
  /// are converted to a time that is too late.
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

  /// From now until end_watch(), a thread reads much more often than `shortest`.
  template <class Machine>
  void begin_watch(Machine machine) {
    note(machine());  // the gap before may have any length
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
    // Other threads may have read up to one note interval after the last note.
    if (watches_ > 0 && at - last >= shortest) {
      const auto before = stood_.load(std::memory_order_relaxed);
      const auto in_all = before + at - last - between_notes;
      standstills_[next_++ % standstills_.size()] = {at - in_all, in_all};
      stood_.store(in_all, std::memory_order_release);
    }
    last_.store(at, std::memory_order_release);
  }

  std::atomic<Nanoseconds> last_{Nanoseconds{}};   // the last noted time, by the machine's clock
  std::atomic<Nanoseconds> stood_{Nanoseconds{}};  // in total
  mutable std::mutex mutex_;                       // not base/mutex.h, which needs the clock
  std::array<Standstill, 16> standstills_{};
  std::size_t next_ = 0;
  int watches_ = 0;
};

}  // namespace laneway
