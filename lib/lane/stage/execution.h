// The workers' side of a workload: runs the handler on the records that the pool claims, unless the
// downstream's breaker is open, and keeps finished claims until the lane collects them. Records for a retry
// topic and dead letters are written in the same way, as work for another handler, so that bounds, order,
// drain and the ledger apply to them as to all work.
//
// Threads: run() and finished() are called by workers (finished() by the thread that answers last); collect()
// and the setters by the lane's loop. The mailbox is bounded by the pool: one entry per unfinished claim. The
// loop is signalled only when it has something to do at once (a failure, more records of a key, a drain);
// otherwise it collects in its next turn, at the latest after 50 ms.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "handler/handler.h"
#include "lane/attempts/record_ids.h"
#include "lane/batch/work_batch.h"
#include "lane/shared/lane_context.h"
#include "lane/state/lane_id.h"
#include "lane/state/lane_stats.h"
#include "pool/pool.h"

namespace laneway::lane {

class Execution final : public pool::Work, public handler::TaskSink {
 public:
  /// `on_finished` must only signal; what else is given outlives this.
  Execution(const LaneContext& lane, const StageContext& stage, const LaneId& id, LaneStats& stats,
            std::function<void()> on_finished)
      : lane_(lane),
        stage_(stage),
        pool_name_(stage.settings.name),
        id_(id),
        stats_(stats),
        on_finished_(std::move(on_finished)),
        ids_(id.partition) {}
  ~Execution() override {
    while (!left()) std::this_thread::yield();  // brief: they only have to signal
  }
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  /// To be called before the first claim.
  void set_pool(pool::Pool& pool) { pool_ = &pool; }
  /// From this call on, a failed call was cut off and does not count as a failure of the downstream.
  void set_cut_off() { cut_off_.store(true, std::memory_order_relaxed); }
  /// If `eager`, every finished claim signals the loop.
  void set_eager(bool eager) { eager_.store(eager, std::memory_order_relaxed); }

  void run(const pool::Claim& claim) noexcept override;

  void finished(handler::Finished finished) noexcept override EXCLUDES(mutex_);
  bool wants_attempts() const noexcept override {
    return lane_.journal != nullptr || lane_.tracer != nullptr;
  }
  std::string_view cluster() const noexcept override { return lane_.cluster; }
  std::unique_ptr<tracing::AttemptTrace> begun(const handler::Item& item) noexcept override;
  void attempted(const handler::Item& item, const handler::BegunAttempt& begun, TimePoint end,
                 const handler::Outcome& outcome) noexcept override;

  /// Whether no thread is inside finished(). A thread that answers for an asynchronous handler does not
  /// belong to the pool, so it may still be inside when the pool has ended; it signals before it leaves.
  bool left() const { return inside_.load(std::memory_order_acquire) == 0; }

  /// Moves the claims that finished since the last call into `into` (emptied first).
  void collect(std::vector<handler::Finished>& into) EXCLUDES(mutex_);

 private:
  void withhold(handler::Task task) const;
  void count(const handler::Finished& finished, const WorkBatch& batch);
  void count_written(const handler::Finished& finished, const WorkBatch& batch);
  void tell_downstream(const handler::Finished& finished, const WorkBatch& batch);
  void tell_limit(const handler::Finished& finished, const Line& line);
  static void keep_pace(const handler::Finished& finished, const WorkBatch& batch);
  FailedCall failed_call(const handler::Item& item, const handler::Failure& failure) const;

  const LaneContext& lane_;
  const StageContext& stage_;
  const std::string pool_name_;
  const LaneId& id_;
  LaneStats& stats_;
  const std::function<void()> on_finished_;
  pool::Pool* pool_ = nullptr;
  const RecordIds ids_;
  std::atomic<bool> eager_{false};
  std::atomic<bool> cut_off_{false};
  std::atomic<std::uint32_t> inside_{0};

  Mutex mutex_;
  std::vector<handler::Finished> mailbox_ GUARDED_BY(mutex_);
  std::atomic<bool> any_{false};  // whether the mailbox has entries, to look without the lock
};

}  // namespace laneway::lane
