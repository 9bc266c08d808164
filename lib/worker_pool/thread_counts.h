// How many threads there are, how many of them sleep (parked) or look for work (searching), and whether a
// sleeper watches (watched_threads.h), in one atomic word: a submitter reads it once to know whether to wake
// a thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace laneway::worker_pool {

struct ThreadCounts {
  static constexpr std::uint64_t thread = 1;
  static constexpr std::uint64_t parked = std::uint64_t{1} << 20;
  static constexpr std::uint64_t searching = std::uint64_t{1} << 40;
  static constexpr std::uint64_t watched = std::uint64_t{1} << 60;
  static constexpr std::uint32_t most = (1U << 20) - 1;

  std::uint64_t word;

  std::uint32_t threads() const { return word & most; }
  std::uint32_t sleepers() const { return (word >> 20) & most; }
  std::uint32_t searchers() const { return (word >> 40) & most; }
  bool has_watcher() const { return (word & watched) != 0; }
  std::uint32_t awake() const { return threads() - sleepers(); }
};

/// What any thread may read about the threads of a pool.
struct alignas(64) ThreadState {
  std::atomic<std::uint64_t> word{0};
  std::atomic<std::uint64_t> start_failures{0};
  std::atomic<bool> start_failed{false};  ///< the system refused the thread that was last wanted

  ThreadCounts counts() const { return {word.load(std::memory_order_seq_cst)}; }
};

}  // namespace laneway::worker_pool
