// Pools that help each other: whose free slots a job begins on, in which order, and how loans end.
#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "support.h"

using namespace laneway;
using namespace laneway::pool;

namespace {

Limits helping_limits(bool asynchronous, std::uint32_t workers) {
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
    end_ = true;
    changed_.notify_all();
    pool_->withdraw(0);
    while (asynchronous_ && running() > 0) finish();
    REQUIRE(pool_->join(Deadline::in(patience)));
  }

  Pool* operator->() { return pool_.operator->(); }
  void help(const std::vector<Tier*>& others) {
    std::vector<Pool*> pools;
    for (auto* other : others) pools.push_back(other->operator->());
    pool_->help(pools);
  }
  void submit(int jobs) {
    for (int i = 0; i < jobs; ++i) {
      jobs_.push_back(std::make_unique<Jobs>(1));
      REQUIRE(pool_->try_submit(*jobs_.back()).taken == 1);
    }
  }
  std::size_t running() const {
    MutexLock lock(mutex_);
    return running_.size();
  }
  bool runs(std::size_t count) {
    return eventually([&] { return running() == count; });
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
  std::atomic<bool> end_{false};
  std::vector<Claim> running_;
  std::vector<Batch*> finishing_;
  std::vector<std::unique_ptr<Jobs>> jobs_;
  TestPool pool_;
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

}  // namespace

TEST_CASE("a job begins on its pool's own slot, then on those of the helpers, the nearest first") {
  const bool asynchronous = GENERATE(false, true);
  Tiers tiers(asynchronous);
  const std::vector<std::array<std::uint32_t, 4>> expected = {
      {0, 0, 0, 0}, {1, 1, 0, 0}, {2, 2, 0, 0}, {3, 2, 1, 0}, {3, 2, 1, 1}};
  for (std::size_t jobs = 0; jobs < expected.size(); ++jobs) {
    tiers.high.submit(1);
    const auto [borrowed, of_medium, of_low, queued] = expected[jobs];
    REQUIRE(tiers.high.runs(std::min<std::size_t>(jobs + 1, 4)));
    CHECK(tiers.high->snapshot().borrowed == borrowed);
    CHECK(tiers.medium->snapshot().lent == of_medium);
    CHECK(tiers.low->snapshot().lent == of_low);
    CHECK(tiers.high->snapshot().queued == queued);
    CHECK(tiers.high->snapshot().threads <= 1);  // the other jobs run on the helpers' threads
  }
  // No slot is left for the helpers' own jobs, until the claims of the first pool are finished.
  tiers.medium.submit(1);
  tiers.low.submit(1);
  for (int i = 0; i < 5; ++i) {
    REQUIRE(eventually([&] { return tiers.high.running() > 0; }));
    tiers.high.finish();
  }
  CHECK(tiers.medium.runs(1));
  CHECK(tiers.low.runs(1));
  CHECK(eventually([&] { return tiers.high->drained(); }));
  CHECK(tiers.high->snapshot().borrowed == 0);
  CHECK(tiers.medium->snapshot().lent == 0);
  CHECK(tiers.low->snapshot().lent == 0);
}

TEST_CASE("a slot that becomes free runs helped jobs first, in the order of the list, then its own") {
  const bool asynchronous = GENERATE(false, true);
  Tiers tiers(asynchronous);
  tiers.low.submit(1);
  tiers.high.submit(1);
  tiers.medium.submit(2);
  for (auto* tier : tiers.all()) REQUIRE(tier->runs(tier == &tiers.medium ? 2 : 1));
  tiers.low.submit(2);
  tiers.medium.submit(2);
  tiers.high.submit(2);
  {
    MutexLock lock(tiers.mutex);
    tiers.begun.clear();
  }
  // All of these begin on the slot of `low`; the other pools' claims go on.
  const auto finish = [&](Tier& tier, std::size_t begun) {
    tier.finish();
    REQUIRE(eventually([&] { return tiers.order().size() == begun; }));
  };
  finish(tiers.low, 1);
  for (std::size_t begun = 2; begun <= 6; ++begun) {
    // Of its own claims each pool keeps the first; the last one began on the loan.
    Tier& last = tiers.order().back() == "high"     ? tiers.high
                 : tiers.order().back() == "medium" ? tiers.medium
                                                    : tiers.low;
    last.finish_last();
    REQUIRE(eventually([&] { return tiers.order().size() == begun; }));
  }
  CHECK(tiers.order() == std::vector<std::string>{"high", "high", "medium", "medium", "low", "low"});
}

TEST_CASE("an own job that has waited longer than the longest wait goes before helped ones") {
  const bool asynchronous = GENERATE(false, true);
  const bool aged = GENERATE(false, true);
  Tiers tiers(asynchronous, aged ? Duration::zero() : std::chrono::hours(1));
  tiers.high.submit(1);
  tiers.medium.submit(2);
  tiers.low.submit(1);
  for (auto* tier : tiers.all()) REQUIRE(tier->runs(tier == &tiers.medium ? 2 : 1));
  tiers.low.submit(1);
  tiers.high.submit(3);
  tiers.low.finish();
  REQUIRE(eventually([&] { return tiers.order().size() == 5; }));
  CHECK(tiers.order().back() == (aged ? "low" : "high"));
}
