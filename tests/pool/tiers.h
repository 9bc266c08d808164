// Pools that help each other, whose claims run until the test finishes them.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "pool/help.h"
#include "support.h"

namespace laneway::pool {

inline Limits helping_limits(bool asynchronous, std::uint32_t workers) {
  Limits result = limits(workers, 1000);
  result.asynchronous = asynchronous;
  result.most_per_claim = 1;
  result.job_deadline = seconds(1000);
  return result;
}

/// One of several pools. Its claims run until the test finishes them. Threaded work holds its thread; the
/// other kind is finished by the test's thread.
class Tier {
 public:
  Tier(std::string name, std::vector<std::string>& begun, Mutex& mutex, const Limits& limits)
      : name_(std::move(name)),
        begun_(begun),
        mutex_(mutex),
        asynchronous_(limits.asynchronous),
        pool_(
            limits, [this](const Claim& claim) { run(claim); }, TestPool::Finish::later) {}
  ~Tier() { end(); }
  void end() {
    {
      MutexLock lock(mutex_);
      end_ = true;
    }
    changed_.notify_all();
    pool_->withdraw(0);
    while (asynchronous_ && running() > 0) finish();
    REQUIRE(pool_->join(Deadline::in(patience)));
  }

  Pool* operator->() { return pool_.operator->(); }
  void help(const std::vector<Tier*>& others) {
    std::vector<Pool*> pools;
    for (auto* other : others) pools.push_back(other->operator->());
    pool::help(*pool_.operator->(), pools);
  }
  void submit(int jobs) {
    for (int i = 0; i < jobs; ++i) {
      jobs_.push_back(std::make_unique<Jobs>(1));
      REQUIRE(pool_->try_submit(*jobs_.back()).taken == 1);
    }
  }
  /// Submits jobs that begin at once, one after the other.
  void begin(int jobs) {
    for (int i = 0; i < jobs; ++i) {
      const auto before = running();
      submit(1);
      REQUIRE(runs(before + 1));
    }
  }
  std::size_t running() const {
    MutexLock lock(mutex_);
    return running_.size();
  }
  bool runs(std::size_t count) {
    return eventually([&] { return running() == count; });
  }
  /// A thread that comes too late for a job of another pool holds a slot for a moment.
  bool lends(std::uint32_t slots) {
    return eventually([&] { return pool_->snapshot().lent == slots; });
  }
  /// Finishes the running claim that began first.
  void finish() { finish_at(0); }
  void finish_last() { finish_at(running() - 1); }
  void finish_at(std::size_t place) {
    Claim claim;
    {
      MutexLock lock(mutex_);
      claim = running_.at(place);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(place));
      if (!asynchronous_) finishing_.push_back(claim.range.batch);
    }
    if (asynchronous_) return pool_->finish(claim);
    changed_.notify_all();
  }
  bool all_ran() const {
    for (const auto& jobs : jobs_)
      if (!jobs->all_ran()) return false;
    return true;
  }

 private:
  void run(const Claim& claim) {
    run_jobs(claim);
    {
      MutexLock lock(mutex_);
      running_.push_back(claim);
      begun_.push_back(name_);
      if (asynchronous_) return;
      while (!end_ && std::find(finishing_.begin(), finishing_.end(), claim.range.batch) == finishing_.end())
        changed_.wait(mutex_);
      std::erase(finishing_, claim.range.batch);
      std::erase_if(running_,
                    [&](const Claim& one) { return one.range.batch == claim.range.batch; });  // at the end
    }
    pool_->finish(claim);
  }

  const std::string name_;
  std::vector<std::string>& begun_;
  Mutex& mutex_;
  const bool asynchronous_;
  Condition changed_;
  bool end_ = false;
  std::vector<Claim> running_;
  std::vector<Batch*> finishing_;
  std::vector<std::unique_ptr<Jobs>> jobs_;
  TestPool pool_;
};

/// A pool and its helper.
struct Pair {
  Pair(const Limits& of_helped, const Limits& of_helper)
      : helped("helped", begun, mutex, of_helped), helper("helper", begun, mutex, of_helper) {
    helper.help({&helped});
  }
  ~Pair() {
    helped->close();
    helper->close();
    helped.end();
    helper.end();
  }

  Mutex mutex;
  std::vector<std::string> begun;
  Tier helped;
  Tier helper;
};

/// High with one worker, medium with two, low with one: medium helps high, low helps high and medium.
struct Tiers {
  explicit Tiers(bool asynchronous, Duration longest_wait = Duration::max())
      : high("high", begun, mutex, helping_limits(asynchronous, 1)),
        medium("medium", begun, mutex, waiting(asynchronous, 2, longest_wait)),
        low("low", begun, mutex, waiting(asynchronous, 1, longest_wait)) {
    medium.help({&high});
    low.help({&high, &medium});
  }
  static Limits waiting(bool asynchronous, std::uint32_t workers, Duration longest_wait) {
    Limits result = helping_limits(asynchronous, workers);
    result.longest_wait = longest_wait;
    return result;
  }
  ~Tiers() {
    for (auto* tier : all()) (*tier)->close();
    for (auto* tier : all()) tier->end();
  }
  std::vector<Tier*> all() { return {&high, &medium, &low}; }
  std::vector<std::string> order() {
    MutexLock lock(mutex);
    return begun;
  }

  Mutex mutex;
  std::vector<std::string> begun;
  Tier high;
  Tier medium;
  Tier low;
};

}  // namespace laneway::pool
