// What the pool's tests share: batches that know what ran, work made of a function, and gates instead of
// sleeps.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "catch.h"
#include "eventually.h"
#include "pool/pool.h"

namespace laneway::pool {

struct Jobs : Batch {
  explicit Jobs(std::uint32_t count, bool one_after_the_other = false) : ran(count) {
    size = count;
    sequential = one_after_the_other;
  }
  void run(const Range& range) {
    for (auto i = range.begin; i < range.end; ++i) ++ran[i];
  }
  /// Whether every job ran `times` times.
  bool all_ran(int times = 1) const {
    for (const auto& count : ran)
      if (count != times) return false;
    return true;
  }
  std::vector<std::atomic<int>> ran;
};

/// Batches of one job each: as many claims, whatever jobs take.
inline std::vector<Jobs> single_jobs(std::size_t count) {
  std::vector<Jobs> result;
  result.reserve(count);
  for (std::size_t i = 0; i < count; ++i) result.emplace_back(1);
  return result;
}

inline void run_jobs(const Claim& claim) { static_cast<Jobs*>(claim.range.batch)->run(claim.range); }

/// Holds whoever comes until it is opened (or the test has failed, so that a failed test ends).
class Gate {
 public:
  ~Gate() { open(); }
  void pass() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    ++waiting_;
    while (!open_ && !given_up_.passed()) opened_.wait_until(mutex_, given_up_.at);
    --waiting_;
  }
  void open() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  bool holds(int count) EXCLUDES(mutex_) {
    return eventually([&] {
      MutexLock lock(mutex_);
      return waiting_ == count;
    });
  }

 private:
  const Deadline given_up_ = Deadline::in(patience);
  Mutex mutex_;
  Condition opened_;
  bool open_ GUARDED_BY(mutex_) = false;
  int waiting_ GUARDED_BY(mutex_) = 0;
};

/// While true, the system refuses threads to this process (workers_test.cpp).
extern std::atomic<bool> refuse_threads;

/// A pool whose work is a function; the claim is finished when it returns, or later by the function's own
/// means. Gates that the function waits at must outlive it.
class TestPool final : private Work {
 public:
  using Function = std::function<void(const Claim&)>;
  enum class Finish { on_return, later };

  explicit TestPool(
      Limits limits, Function function, Finish finish = Finish::on_return,
      std::function<void()> on_room = [] {})
      : function_(std::move(function)), finish_(finish), pool_(limits, *this, std::move(on_room)) {}

  Pool* operator->() { return &pool_; }

  /// Lets the pool learn that jobs take next to nothing, however slow the machine is: from one job that
  /// counts as a billion.
  void warm_up() {
    Jobs job(1);
    warming_up_ = true;
    REQUIRE(pool_.try_submit(job).taken == 1);
    REQUIRE(eventually([&] { return pool_.drained() && pool_.snapshot().active == 0; }));
    warming_up_ = false;
    REQUIRE(pool_.snapshot().service_time == nanoseconds(1));
  }

 private:
  void run(const Claim& claim) noexcept override {
    function_(claim);
    if (warming_up_)
      pool_.finish(claim, {1, 1'000'000'000});
    else if (finish_ == Finish::on_return)
      pool_.finish(claim);
  }

  Function function_;
  Finish finish_;
  std::atomic<bool> warming_up_{false};
  Pool pool_;
};

inline Limits limits(std::uint32_t workers, std::uint32_t queue) {
  Limits result;
  result.workers = workers;
  result.queue = queue;
  result.idle = std::chrono::hours(1);
  return result;
}

}  // namespace laneway::pool
