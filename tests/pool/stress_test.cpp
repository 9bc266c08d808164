// Several pools under random work: every job runs exactly once, or is withdrawn and never runs.
#include <rapidcheck.h>

#include <memory>
#include <random>

#include "support.h"

using namespace laneway;
using namespace laneway::pool;

namespace {

Limits random_limits(std::uint32_t seed) {
  Limits result = limits(1 + seed % 7, seed / 7 % 40);
  result.asynchronous = seed / 280 % 3 == 0;
  return result;
}

/// One pool with its producer's bookkeeping. Some claims are finished by another thread than the one that ran
/// them.
class Subject {
 public:
  explicit Subject(std::uint32_t seed)
      : random_(seed),
        pool_(
            random_limits(seed), [this](const Claim& claim) { run(claim); }, TestPool::Finish::later,
            [this] { room_ = true; }),
        finisher_([this] { finish_passed_on(); }) {}
  ~Subject() {
    pool_->join(Deadline::in(patience));
    {
      MutexLock lock(mutex_);
      end_ = true;
    }
    changed_.notify_all();
    finisher_.join();
  }

  void submit_some() {
    auto jobs = std::make_unique<Jobs>(random_() % 60, random_() % 4 == 0);
    for (std::uint32_t begin = 0; begin < jobs->size;) {
      begin += pool_->try_submit(*jobs, begin).taken;
      if (begin == jobs->size) break;
      room_ = false;
      pool_->notify_at(random_() % 8);
      RC_ASSERT(eventually([this] { return room_.load(); }));
      pool_->tick(SteadyClock::now());
    }
    batches_.push_back(std::move(jobs));
    if (random_() % 16 == 0) pool_->tick(SteadyClock::now());
  }

  /// Withdraws a part and checks that the rest ran exactly once.
  void end() {
    for (const Range& range : pool_->withdraw(random_() % 20)) static_cast<Jobs*>(range.batch)->run(range);
    RC_ASSERT(pool_->join(Deadline::in(patience)));
    RC_ASSERT(pool_->drained());
    RC_ASSERT(pool_->snapshot().threads == 0U);
    for (const auto& jobs : batches_) RC_ASSERT(jobs->all_ran());
  }

 private:
  void run(const Claim& claim) {
    run_jobs(claim);
    if (claim.first_ticket % 3 != 0) {
      pool_->finish(claim);
      return;
    }
    {
      MutexLock lock(mutex_);
      passed_on_.push_back(claim);
    }
    changed_.notify_all();
  }
  void finish_passed_on() {
    for (;;) {
      std::vector<Claim> claims;
      {
        MutexLock lock(mutex_);
        while (passed_on_.empty() && !end_) changed_.wait(mutex_);
        if (passed_on_.empty()) return;
        claims.swap(passed_on_);
      }
      for (const Claim& claim : claims) pool_->finish(claim);
    }
  }

  std::minstd_rand random_;
  std::vector<std::unique_ptr<Jobs>> batches_;
  std::atomic<bool> room_{false};
  Mutex mutex_;
  Condition changed_;
  bool end_ GUARDED_BY(mutex_) = false;
  std::vector<Claim> passed_on_ GUARDED_BY(mutex_);
  TestPool pool_;
  std::thread finisher_;
};

}  // namespace

TEST_CASE("under random work every job runs exactly once or is withdrawn") {
  REQUIRE(rc::check([](std::uint32_t seed) {
    std::vector<std::unique_ptr<Subject>> subjects;
    for (std::uint32_t i = 0; i < 3; ++i) subjects.push_back(std::make_unique<Subject>(seed % 100000 + i));
    for (int round = 0; round < 30; ++round)
      for (const auto& subject : subjects) subject->submit_some();
    for (const auto& subject : subjects) subject->end();
  }));
}
