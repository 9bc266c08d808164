// The queue of a pool: a bounded ring of slots, for many submitters and many workers, without a lock.
//
// Admission is exact: jobs are accepted while fewer than `limit` jobs have not ended (waiting, claimed or
// running). One exception: a claimed job that has not begun keeps its slot; if so many later jobs end
// meanwhile that the slot's turn comes again, the queue is full until the job begins. That needs a worker
// that the system suspends, or jobs of a few µs behind one that lasts (Core::look_for_overdue).
// A submitter knows a number of ended jobs that is too low at worst. Only when the queue seems full does it
// read the number of finished jobs, which counts by whole claims, and only when it still seems full, the
// workers' own counts; so it seldom shares a cache line with the workers. Closing sets a bit of the
// submitters' position: a submission is either before it, and will be run, or behind it, and is refused;
// there is nothing between.
//
// Claims: a worker takes several jobs with one exchange of the workers' position. Threads: any; nothing
// blocks. Source: D. Vyukov's bounded MPMC queue, with claims of several slots and admission by count.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

#include "laneway/detail/pool_slot.hpp"

namespace laneway::worker_pool {

using detail::Slot;

class Ring {
 public:
  enum class Refusal : std::uint8_t { none, full, closed };
  struct Reservation {
    std::uint64_t position = 0;
    std::uint32_t count = 0;
    Refusal refusal = Refusal::none;
  };
  struct Range {
    std::uint64_t begin = 0;
    std::uint32_t count = 0;
  };

  /// `overtaking`: as many later jobs may end before a claimed job has left its slot.
  Ring(std::uint64_t limit, std::uint64_t overtaking)
      : limit_(limit),
        size_(std::bit_ceil(std::max<std::uint64_t>(limit + overtaking + 1, 64))),
        slots_(new Slot[size_]) {
    for (std::uint64_t i = 0; i < size_; ++i) slots_[i].turn.store(i, std::memory_order_relaxed);
  }

  Slot& slot(std::uint64_t position) { return slots_[position & (size_ - 1)]; }
  Slot* slots() { return slots_.get(); }
  std::uint64_t size() const { return size_; }
  std::uint64_t limit() const { return limit_; }

  /// Reserves up to `wanted` slots. Each must be filled and published (turn = position + 1) at once. `ended`
  /// returns the number of ended jobs.
  template <class Ended>
  Reservation reserve(std::uint32_t wanted, Ended&& ended) {
    for (auto tail = tail_.load(std::memory_order_relaxed);;) {
      if (tail & closed_bit) return {0, 0, Refusal::closed};
      const auto count = std::min(room(tail, wanted, ended), free_slots(tail, wanted));
      if (count == 0) {
        const auto now = tail_.load(std::memory_order_relaxed);
        if (now == tail) return {0, 0, Refusal::full};
        tail = now;
      } else if (tail_.compare_exchange_weak(tail, tail + count, std::memory_order_seq_cst,
                                             std::memory_order_relaxed)) {
        return {tail, count, Refusal::none};
      }
    }
  }

  /// Takes up to `most` jobs that are published. `allowed` is asked after jobs are seen and before they are
  /// taken.
  template <class Allowed>
  Range claim(std::uint32_t most, Allowed&& allowed) {
    for (auto head = head_.load(std::memory_order_relaxed);;) {
      std::uint32_t count = 0;
      while (count < most && slot(head + count).turn.load(std::memory_order_acquire) == head + count + 1)
        ++count;
      if (count == 0) {
        const auto now = head_.load(std::memory_order_relaxed);
        if (now == head) return {};
        head = now;
      } else if (!allowed()) {
        return {};
      } else if (head_.compare_exchange_weak(head, head + count, std::memory_order_seq_cst,
                                             std::memory_order_relaxed)) {
        return {head, count};
      }
    }
  }

  /// Of a claim that is over. Returns the number of finished jobs, with these.
  std::uint64_t finish(std::uint64_t count) {
    return finished_.fetch_add(count, std::memory_order_seq_cst) + count;
  }

  void close() { tail_.fetch_or(closed_bit, std::memory_order_seq_cst); }
  bool closed() const { return (tail_.load(std::memory_order_seq_cst) & closed_bit) != 0; }

  std::uint64_t accepted() const { return tail_.load(std::memory_order_seq_cst) & ~closed_bit; }
  std::uint64_t claimed() const { return head_.load(std::memory_order_seq_cst); }
  std::uint64_t finished() const { return finished_.load(std::memory_order_seq_cst); }
  /// Whether there are jobs that no worker has claimed; some may not be published yet.
  bool has_work() const { return accepted() != claimed(); }
  /// Whether there is a claimed job that is still in its slot: its worker is about to begin it.
  bool has_unbegun() const {
    const auto head = claimed();
    for (auto position = head - std::min(head, size_); position < head; ++position)
      if (slots_[position & (size_ - 1)].turn.load(std::memory_order_acquire) == position + 1) return true;
    return false;
  }
  /// Counts by whole claims: those of a claim that is under way are unfinished.
  std::uint64_t unfinished() const {
    const auto finished = this->finished();  // first, so that the difference is not negative
    return accepted() - finished;
  }

 private:
  static constexpr std::uint64_t closed_bit = std::uint64_t{1} << 63;

  template <class Ended>
  std::uint32_t room(std::uint64_t tail, std::uint32_t wanted, Ended&& ended) {
    if (room_by(tail, ended_seen_.load(std::memory_order_relaxed)) >= wanted) return wanted;
    auto known = finished();
    if (room_by(tail, known) < wanted) known = ended();
    ended_seen_.store(known, std::memory_order_relaxed);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, room_by(tail, known)));
  }
  /// `ended` may be of a later moment than `tail`: then the exchange fails, whatever this returns.
  std::uint64_t room_by(std::uint64_t tail, std::uint64_t ended) const {
    const auto unfinished = static_cast<std::int64_t>(tail - ended);
    const auto room = static_cast<std::int64_t>(limit_) - unfinished;
    return static_cast<std::uint64_t>(std::clamp<std::int64_t>(room, 0, static_cast<std::int64_t>(limit_)));
  }
  /// A slot is not free if a worker has claimed its job of the round before and not taken it out yet.
  std::uint32_t free_slots(std::uint64_t tail, std::uint32_t wanted) {
    __builtin_prefetch(&slot(tail + wanted + 3), 1);
    std::uint32_t count = 0;
    while (count < wanted && slot(tail + count).turn.load(std::memory_order_acquire) == tail + count) ++count;
    return count;
  }

  const std::uint64_t limit_;
  const std::uint64_t size_;
  const std::unique_ptr<Slot[]> slots_;
  alignas(64) std::atomic<std::uint64_t> tail_{0};  // of the submitters, with the closed bit
  std::atomic<std::uint64_t> ended_seen_{0};        // of the submitters
  alignas(64) std::atomic<std::uint64_t> head_{0};  // of the workers
  alignas(64) std::atomic<std::uint64_t> finished_{0};
};

}  // namespace laneway::worker_pool
