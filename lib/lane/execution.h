// The worker's side of a lane: runs the handler on what the pool claims, unless the downstream's breaker lets
// nothing through, and keeps what finished until the lane collects it. What goes on to a retry topic or was
// given up is written there the same way: as work for another handler, so that bounds, order, drain and the
// ledger hold for it as for all work.
//
// Threads: run() and finished() are called by workers (finished() by whoever answers last); collect() and the
// setters by the lane's loop. The mailbox is bounded by the pool: one entry per unfinished claim. The loop is
// signalled only when it has something to do at once (a failure, a chain of a key to go on with, a drain),
// else it collects when it comes by.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "handler/handler.h"
#include "lane/attempts/record_ids.h"
#include "lane/shared/lane_context.h"
#include "lane/state/lane_stats.h"
#include "pool/pool.h"

namespace laneway::lane {

class Execution final : public pool::Work, public handler::TaskSink {
 public:
  /// `partition` and `epoch` go into the journal; the partition outlives this. `on_finished` must only
  /// signal.
  Execution(const LaneContext& context, const kafka::TopicPartition& partition, std::uint64_t epoch,
            LaneStats& stats, std::function<void()> on_finished)
      : context_(context),
        partition_(partition),
        epoch_(epoch),
        stats_(stats),
        on_finished_(std::move(on_finished)),
        ids_(partition) {}
  ~Execution() override {
    while (!left()) std::this_thread::yield();  // brief: they have only their signal to give
  }
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  /// Before the first claim.
  void set_pool(pool::Pool& pool) { pool_ = &pool; }
  /// What fails from now on was cut off, and says nothing of the downstream.
  void set_cut_off() { cut_off_.store(true, std::memory_order_relaxed); }
  /// Every finished claim signals the loop.
  void set_eager(bool eager) { eager_.store(eager, std::memory_order_relaxed); }

  void run(const pool::Claim& claim) noexcept override;

  void finished(handler::Finished finished) noexcept override EXCLUDES(mutex_);
  bool wants_attempts() const noexcept override {
    return context_.journal != nullptr || context_.tracer != nullptr;
  }
  std::string_view cluster() const noexcept override { return context_.cluster; }
  std::unique_ptr<tracing::AttemptTrace> begun(const handler::Item& item) noexcept override;
  void attempted(const handler::Item& item, const handler::BegunAttempt& begun, TimePoint end,
                 const handler::Outcome& outcome) noexcept override;

  /// No thread is inside finished(). One that answers for an asynchronous handler is not the pool's, so it
  /// may be on its way out when the pool has ended; its signal comes before it has left.
  bool left() const { return inside_.load(std::memory_order_acquire) == 0; }

  /// Moves what finished since the last call into `into` (emptied first).
  void collect(std::vector<handler::Finished>& into) EXCLUDES(mutex_);

 private:
  void withhold(handler::Task task) const;
  void count(const handler::Finished& finished, const handler::RecordBatch& batch);
  void tell_downstream(const handler::Finished& finished);
  void keep_pace(const handler::Finished& finished);
  FailedCall failed_call(const handler::Finished& finished, const handler::Failure& failure) const;

  const LaneContext& context_;
  const kafka::TopicPartition& partition_;
  const std::uint64_t epoch_;
  LaneStats& stats_;
  const std::function<void()> on_finished_;
  pool::Pool* pool_ = nullptr;
  const RecordIds ids_;
  std::atomic<bool> eager_{false};
  std::atomic<bool> cut_off_{false};
  std::atomic<std::uint32_t> inside_{0};

  Mutex mutex_;
  std::vector<handler::Finished> mailbox_ GUARDED_BY(mutex_);
  std::atomic<bool> any_{false};  // whether the mailbox holds something, to look without the lock
};

}  // namespace laneway::lane
