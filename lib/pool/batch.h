// The types that the pool takes and passes to workers.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/stop_token.h"

namespace laneway::pool {

/// When the jobs of a batch begin, compared with the jobs of other batches. Only jobs that are in order need
/// room; the submitter bounds the number of the others.
enum class Turn : std::uint8_t {
  first,        ///< Before all other jobs.
  alternating,  ///< Each second claim while jobs in order wait too.
  in_order,     ///< After the jobs in order that were submitted before.
};

/// Jobs that are submitted together; a lane derives its run of records from this class. The pool knows only
/// the number of jobs and refers to them by index. The submitter owns the batch and keeps it until every job
/// in it is finished or withdrawn.
class Batch {
 public:
  /// Jobs [0, size) exist.
  std::uint32_t size = 0;
  /// A sequential batch is claimed whole, so that one worker runs its jobs one after the other (records of
  /// one key). The submitter keeps it short: a moment's work.
  bool sequential = false;
  Turn turn = Turn::in_order;

 protected:
  ~Batch() = default;
};

/// Jobs [begin, end) of a batch.
struct Range {
  Batch* batch = nullptr;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  std::uint32_t count() const { return end - begin; }
};

class Slot;

/// A range that one worker has taken. `first_ticket + i` is the stop ticket of job `begin + i`. The runner of
/// the claim calls slot->progress(ticket) before each job, so that each job has its own deadline. A runner
/// that runs jobs one after the other calls slot->begin(ticket, first_ticket) instead, and ends the claim if
/// that returns false; then the submitter can take back the jobs behind a job that hangs.
struct Claim {
  Range range;
  Slot* slot = nullptr;
  std::uint64_t first_ticket = 0;

  StopToken stop_token(std::uint32_t job) const;
  /// Whether the pool wants the jobs back that have not begun.
  bool wanted_back() const;
};

/// One worker's slot: its stop state and its progress. Used by the claim's runner and by the pool's deadline
/// check.
class alignas(64) Slot {
 public:
  StopState stop;
  /// A plain store to the worker's own cache line: the pool samples it, so deadlines need no clock reading
  /// per job.
  void progress(std::uint64_t ticket) { current_.store(ticket, std::memory_order_relaxed); }
  /// The same for a runner that has answered all jobs before this one. Returns false if the claim is wanted
  /// back: then neither this job nor a later one may run, unless the job is the first of the claim.
  bool begin(std::uint64_t ticket, std::uint64_t first_ticket) {
    one_by_one_.store(true, std::memory_order_relaxed);
    current_.store(ticket, std::memory_order_seq_cst);
    return first_ticket > wanted_back_.load(std::memory_order_seq_cst);
  }
  /// The runner of the claim calls begin(): the jobs before current() are answered, and those behind it have
  /// not begun. After want_back() they never will: either the runner sees the request, or current() sees the
  /// runner's next job (both are sequentially consistent).
  bool one_by_one() const { return one_by_one_.load(std::memory_order_relaxed); }
  /// The ticket that began last, 0 if none began; nullopt if every job of the claim is answered. The worker
  /// may answer at any time, so that two calls may differ.
  std::optional<std::uint64_t> current() const {
    const auto ticket = current_.load(std::memory_order_seq_cst);
    if (ticket == all_answered) return {};
    return ticket;
  }

  /// Wants back the claim whose first ticket this is. Tickets rise, so a late request never affects a later
  /// claim. Called by the pool under its lock.
  void want_back(std::uint64_t first_ticket) { wanted_back_.store(first_ticket, std::memory_order_seq_cst); }
  bool wanted_back(std::uint64_t first_ticket) const {
    return first_ticket <= wanted_back_.load(std::memory_order_relaxed);
  }

  /// Every job of the claim is answered. Must be called before anybody who may then end the batch can learn
  /// of the answers: Pool::finish(claim) comes later, and until then the pool must not show the claim to the
  /// submitter.
  void set_answered() { current_.store(all_answered, std::memory_order_relaxed); }

 private:
  friend class WorkerSlots;  // begins claims

  static constexpr std::uint64_t all_answered = ~std::uint64_t{0};

  std::atomic<std::uint64_t> current_{0};  // the ticket that began last; 0 if none
  std::atomic<std::uint64_t> wanted_back_{0};
  std::atomic<bool> one_by_one_{false};
};

inline StopToken Claim::stop_token(std::uint32_t job) const {
  return {&slot->stop, first_ticket + (job - range.begin)};
}

inline bool Claim::wanted_back() const { return slot->wanted_back(first_ticket); }

/// A running claim of several jobs that is wanted back.
struct Overdue {
  Claim claim;
  /// The jobs from this one on have not begun, and will not.
  std::uint32_t unbegun = 0;
};

/// The number of jobs of a claim that were run, as far as the submitter knows.
struct Ran {
  std::uint32_t attempts = 0;
  /// The attempts that show how long a job takes; the others failed before any work was done.
  std::uint32_t typical = 0;
};

/// The work that the pool's workers do with a claim. Called on several pool threads at once; throws nothing.
class Work {
 public:
  /// Returns when the jobs are done or, for work that completes asynchronously, when the jobs have been
  /// passed on. In both cases Pool::finish(claim) is called exactly once, when the jobs are done, from any
  /// thread.
  virtual void run(const Claim& claim) noexcept = 0;

 protected:
  ~Work() = default;
};

}  // namespace laneway::pool
