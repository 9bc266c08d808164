// A queue with its workers: where jobs are accepted, claimed, run and given up. A pool has one, or one for
// each worker (Distribution::by_key, round_robin).
//
// Ownership: WorkerPool; the timekeeper outlives it. Threads: any may call everything; end() once. What
// blocks: reserve with a time, wait_unfinished, end.
//
// A claim of several jobs is not the worker's alone: when it lasts longer than `overdue_after`, other workers
// take jobs out of it. So a job never waits behind another one while a worker is free, even if the first job
// waits for the second.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "laneway/pool_types.hpp"
#include "worker_pool/job_details.h"
#include "worker_pool/job_time.h"
#include "worker_pool/ring.h"
#include "worker_pool/timekeeper.h"
#include "worker_pool/unfinished.h"
#include "worker_pool/watched_threads.h"
#include "worker_pool/worker_counts.h"

namespace laneway::worker_pool {

inline std::int64_t clock_ns() { return SteadyClock::now().time_since_epoch().count(); }

class Core final : private ThreadWork {
 public:
  struct Settings {
    std::uint32_t workers = 1;
    std::uint32_t least = 0;
    std::uint64_t queue = 0;
    JobIds ids;
    bool paused = false;
  };

  Core(const PoolOptions& options, Settings settings, Timekeeper& timekeeper);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  static constexpr std::int64_t now_or_not = std::numeric_limits<std::int64_t>::min();

  /// Reserves slots for up to `wanted` jobs; while there are none, blocks until `until` (ns). The slots hold
  /// `details`, if the answer is accepted, and must be filled and published.
  Submission reserve(std::uint32_t wanted, detail::JobDetails* details, std::int64_t until,
                     std::uint64_t& position);
  void publish(std::uint64_t position, std::uint32_t count);
  Ring& ring() { return ring_; }

  void pause();
  void resume();
  void close();
  /// Returns false if the time (ns) came before no job was unfinished.
  bool wait_unfinished(std::int64_t until);
  /// Requests the stop of the running jobs; no further job begins.
  void cancel();
  /// Gives up the jobs that have not begun.
  void abandon(std::vector<UnfinishedJob>& jobs);
  void add_running(std::vector<UnfinishedJob>& jobs) const { unfinished_.add_running(jobs); }
  void end() { threads_.end(); }

  void add_to(PoolMetrics& metrics) const;
  /// False if there is no thread and none can be started. Tries it again if the system refused one.
  bool has_thread();
  const WatchedThreads& threads() const { return threads_; }
  const Workers& workers() const { return workers_; }
  /// Requests the stop of jobs past their timeout. Returns the next timeout, or Timekeeper::never.
  std::int64_t look_at_timeouts(std::int64_t now);
  std::stop_token stop_token(const Worker& worker) const;

 private:
  static constexpr std::uint32_t paused = 1;
  static constexpr std::uint32_t cancelled = 2;
  static constexpr Duration claim_time = microseconds(16);

  bool has_work() const override;
  bool needs_help() override;
  bool watched_something() const override { return moved_; }
  bool has_unbegun_claim() const override;
  bool wants_watcher() const override;
  void work(std::uint32_t thread) override;

  bool search(Worker& worker, Ring::Range& range);
  Ring::Range claim();
  std::optional<std::uint64_t> take_overdue(const Worker* own, std::int64_t now);
  void look_for_overdue(Worker& worker);
  void run_claim(Worker& worker, Ring::Range range);
  /// These run a job, and return the count that it belongs to.
  OwnCount& run_job(Worker& worker, std::uint64_t position);
  OwnCount& run_detailed(Worker& worker, std::uint64_t position, detail::Slot& slot);
  OwnCount& invoke(Worker& worker, std::uint64_t position, detail::Slot& slot, std::string_view name);
  void drop(Worker& worker, std::uint64_t position, detail::Slot& slot);
  bool held();
  void finish(std::uint64_t count);
  void call_if_needed(std::uint64_t waiting);
  /// Several jobs may fit into a claim.
  bool short_jobs() const { return job_time_.within(claim_time); }
  /// More workers than cores do not make short jobs faster. One more is allowed, because the system may let
  /// two share a core, but not if jobs are so short that workers hold each other up at the queue.
  bool wake_up_pays(std::uint64_t waiting, std::uint32_t awake) const {
    if (awake == 0 || !short_jobs()) return true;
    if (awake >= processors_ + (job_time_.within(nanoseconds(512)) ? 0 : 1)) return false;
    return job_time_.worth_a_wake_up(waiting, awake);
  }
  void call_watcher();
  bool wait_for_room(std::int64_t until) EXCLUDES(room_mutex_);
  std::uint64_t ended() const { return ended_jobs(workers_) + abandoned_.load(std::memory_order_acquire); }
  std::uint64_t id(std::uint64_t position) const { return settings_.ids.of(position); }
  std::uint32_t control() const { return control_.load(std::memory_order_seq_cst); }

  const PoolOptions& options_;
  const Settings settings_;
  const std::uint32_t processors_;
  Timekeeper& timekeeper_;
  std::stop_source cancel_;
  Ring ring_;
  Workers workers_;
  alignas(64) JobTime job_time_{microseconds(20), true};
  std::atomic<std::uint32_t> control_{0};
  /// The number of finished jobs that somebody waits for.
  std::atomic<std::uint64_t> wake_at_{~std::uint64_t{0}};
  /// Somebody waits for the end of one job, also of one in the middle of a claim.
  std::atomic<bool> report_each_{false};
  alignas(64) std::atomic<std::uint64_t> rejected_full_{0};
  std::atomic<std::uint64_t> rejected_closed_{0}, abandoned_{0}, timed_out_{0};
  std::uint64_t claimed_at_last_tick_ = 0;  // of the watcher, under the threads' mutex
  bool moved_ = false;                      // likewise
  Mutex room_mutex_;
  Condition room_, held_;
  Unfinished unfinished_;
  WatchedThreads threads_;  // the last: they use the rest
};

}  // namespace laneway::worker_pool
