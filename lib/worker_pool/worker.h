// What one worker of a pool has: its claim of the queue, the job that it runs, and its counts.
//
// Ownership: the core; a worker stays when its thread has ended, and a later thread takes it over. Threads:
// the worker's thread writes; `claim` is also changed by idle workers, which take jobs out of a claim that
// lasts, and by stop().
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "laneway/detail/pool_slot.hpp"
#include "worker_pool/own_counts.h"
#include "worker_pool/running_job.h"

namespace laneway::worker_pool {

class Core;

inline constexpr std::uint32_t most_per_claim = 64;

/// The jobs of a claim that have not begun: [begin, begin + count), in one word.
class ClaimWord {
 public:
  void set(std::uint64_t begin, std::uint32_t count) {
    word_.store(begin << count_bits | count, std::memory_order_release);
  }
  /// Takes the first job; empty if there is none.
  std::optional<std::uint64_t> take() {
    auto word = word_.load(std::memory_order_acquire);
    while ((word & count_mask) != 0) {
      const auto rest = (((word >> count_bits) + 1) << count_bits) | ((word & count_mask) - 1);
      if (word_.compare_exchange_weak(word, rest, std::memory_order_acq_rel, std::memory_order_acquire))
        return word >> count_bits;
    }
    return std::nullopt;
  }
  std::uint32_t left() const {
    return static_cast<std::uint32_t>(word_.load(std::memory_order_acquire) & count_mask);
  }

 private:
  static constexpr unsigned count_bits = 8;
  static constexpr std::uint64_t count_mask = (1U << count_bits) - 1;

  std::atomic<std::uint64_t> word_{0};
};

struct alignas(64) Worker : detail::Runner {
  // Changed at each claim, and at each job of a claim of several.
  ClaimWord claim;
  std::atomic<std::int64_t> claimed_at{0};  ///< ns; 0 when no claim of several jobs is under way
  /// The position of the running job. It is `none` again before the job is counted as ended.
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  std::atomic<std::uint64_t> current{none};
  std::int64_t now = 0;  ///< of the worker's last look at the clock
  std::int64_t looked_for_overdue = 0;
  Core* core = nullptr;

  // Each job is counted in one of them when it ends, the others of its claim notwithstanding.
  OwnCount completed, failed, expired;
  std::uint64_t ended() const { return completed.get() + failed.get() + expired.get(); }
  OwnDurations wait, duration;

  RunningJob job;

  /// Whether the claim has jobs that have not begun. A claim that begins is seen here by whoever changes the
  /// counts of the threads before the claim's worker reads them.
  bool has_unbegun() const { return claimed_at.load(std::memory_order_seq_cst) != 0 && claim.left() > 0; }
  /// Whether such a claim has lasted for longer than `limit` (ns).
  bool overdue(std::int64_t at, std::int64_t limit) const {
    if (claim.left() == 0) return false;
    const auto since = claimed_at.load(std::memory_order_relaxed);
    return since != 0 && at - since > limit;
  }
};
using Workers = std::vector<Worker>;

}  // namespace laneway::worker_pool
