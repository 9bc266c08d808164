// How a job is kept in the queue of laneway::WorkerPool. Part of the installed headers because submitting
// constructs a job in its place, without an allocation; programs use <laneway/pool.hpp>.
//
// A slot is one cache line. Small jobs lie in `storage`; a larger one is on the heap, and its pointer is in
// `storage`. `turn` says whose the slot is: for position p of the queue, p means free, p + 1 means filled,
// p + the number of slots means free again (D. Vyukov, "Bounded MPMC queue").
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace laneway::detail {

struct JobDetails;

/// The worker, as a running job sees it.
class Runner {
 public:
  /// The stop of this job: requested at its timeout, and when stop() gives up.
  std::stop_token stop_token() const;

  std::uint64_t next_turn = 0;  ///< what makes the slot free
  bool discard = false;         ///< the job is destroyed and does not run
};

struct alignas(64) Slot {
  using Run = void (*)(Slot&, Runner&);
  static constexpr std::size_t capacity = 32;
  static constexpr std::size_t alignment = 16;

  std::atomic<std::uint64_t> turn{0};
  Run run = nullptr;
  JobDetails* details = nullptr;  ///< owned by the slot while the slot is filled
  std::int64_t submitted = 0;     ///< ns of the clock; 0: the waiting time of this job is not measured
  alignas(alignment) std::byte storage[capacity];
};
static_assert(sizeof(Slot) == 64);

template <class Job>
concept TakesStopToken = std::invocable<Job&, std::stop_token>;

template <class Job>
concept Runnable = TakesStopToken<Job> || std::invocable<Job&>;

template <class Job>
inline constexpr bool fits = sizeof(Job) <= Slot::capacity &&
                             alignof(Job) <= Slot::alignment&& std::is_nothrow_move_constructible_v<Job>;

template <class Job>
void call(Job& job, Runner& runner) {
  if constexpr (TakesStopToken<Job>)
    static_cast<void>(job(runner.stop_token()));
  else
    static_cast<void>(job());
}

inline void free_slot(Slot& slot, const Runner& runner) {
  slot.turn.store(runner.next_turn, std::memory_order_release);
}

/// Takes the job out, frees the slot for the next submitter, and runs the job.
template <class Job>
void run_inside(Slot& slot, Runner& runner) {
  Job* const stored = std::launder(reinterpret_cast<Job*>(slot.storage));
  Job job(std::move(*stored));
  stored->~Job();
  free_slot(slot, runner);
  if (!runner.discard) call(job, runner);
}

template <class Job>
void run_outside(Slot& slot, Runner& runner) {
  const std::unique_ptr<Job> job(*std::launder(reinterpret_cast<Job**>(slot.storage)));
  free_slot(slot, runner);
  if (!runner.discard) call(*job, runner);
}

/// Memory for a large job, taken before its slot is: filling a slot must not fail.
template <class Job>
class Outside {
 public:
  Outside() : memory_(std::allocator<Job>().allocate(1)) {}
  ~Outside() {
    if (memory_) std::allocator<Job>().deallocate(memory_, 1);
  }
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;
  /// The memory stays this object's if the construction throws.
  template <class From>
  Job* construct(From&& from) {
    Job* const job = ::new (static_cast<void*>(memory_)) Job(std::forward<From>(from));
    memory_ = nullptr;
    return job;
  }

 private:
  Job* memory_;
};

struct Nothing {};

/// What is in a slot whose job could not be constructed.
struct NoJob {
  void operator()() const {}
};

/// Puts jobs into slots. Two steps, so that a refused job stays with its submitter, and an accepted one is
/// surely in its slot: memory before the reservation, construction after it. Who lets a construction throw
/// fills the slot with NoJob.
template <class Job>
class Filler {
 public:
  template <class From>
  void fill(Slot& slot, From&& from) noexcept(std::is_nothrow_constructible_v<Job, From&&>) {
    if constexpr (fits<Job>) {
      ::new (static_cast<void*>(slot.storage)) Job(std::forward<From>(from));
      slot.run = &run_inside<Job>;
    } else {
      Job* const job = outside_.construct(std::forward<From>(from));
      ::new (static_cast<void*>(slot.storage)) Job*(job);
      slot.run = &run_outside<Job>;
    }
  }

 private:
  [[no_unique_address]] std::conditional_t<fits<Job>, Nothing, Outside<Job>> outside_;
};

/// Whether there is a job in a callable that may be empty: a null pointer to a function, an empty
/// std::function.
template <class Job>
bool is_empty(const Job& job) {
  if constexpr (requires { static_cast<bool>(job == nullptr); })
    return static_cast<bool>(job == nullptr);
  else
    return false;
}

}  // namespace laneway::detail
