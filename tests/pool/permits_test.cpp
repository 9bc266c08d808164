// Permits that pools share: how many claims run at once, in which turn pools get one, and that none is lost.
#include "pool/permits.h"

#include <deque>
#include <memory>

#include "support.h"

using namespace laneway;
using namespace laneway::pool;

namespace {

struct Client final : Permits::Waiter {
  void permitted() override { ++got; }
  int got = 0;
};

Limits with_permits(Permits& permits, bool asynchronous, std::uint32_t workers = 4) {
  Limits result = limits(workers, 1000);
  result.permits = &permits;
  result.asynchronous = asynchronous;
  result.most_per_claim = 1;
  result.job_deadline = seconds(1000);
  return result;
}

/// Pools whose claims stay until the test finishes them: in the order in which they began.
class Lanes {
 public:
  Lanes(Permits& permits, int count, bool asynchronous, std::uint32_t workers = 4) {
    for (int i = 0; i < count; ++i) {
      pools_.push_back(std::make_unique<TestPool>(
          with_permits(permits, asynchronous, workers), [this, i](const Claim& claim) { begin(i, claim); },
          TestPool::Finish::later));
    }
  }
  ~Lanes() {
    for (auto& pool : pools_) (*pool)->withdraw(0);
    while (running() > 0) finish_first();
    for (auto& pool : pools_) (*pool)->join(Deadline::in(patience));
  }

  TestPool& operator[](int lane) { return *pools_[static_cast<std::size_t>(lane)]; }
  std::size_t size() const { return pools_.size(); }
  void submit(int lane, std::uint32_t jobs) {
    jobs_.emplace_back(jobs);
    REQUIRE(operator[](lane)->try_submit(jobs_.back()).taken == jobs);
  }
  std::size_t running() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return running_.size();
  }
  /// Waits until as many claims run.
  bool run(std::size_t count) {
    return eventually([&] { return running() == count; });
  }
  int first_lane() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return running_.front().first;
  }
  /// The lanes of the claims that began, in order.
  std::vector<int> begun() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return begun_;
  }
  void finish_first() EXCLUDES(mutex_) {
    std::pair<int, Claim> first;
    {
      MutexLock lock(mutex_);
      first = running_.front();
      running_.pop_front();
    }
    operator[](first.first)->finish(first.second);
  }
  bool drained() const {
    for (const auto& pool : pools_)
      if (!(*pool)->drained()) return false;
    return true;
  }
  bool all_ran() const {
    for (const auto& jobs : jobs_)
      if (!jobs.all_ran()) return false;
    return true;
  }

 private:
  void begin(int lane, const Claim& claim) EXCLUDES(mutex_) {
    run_jobs(claim);
    MutexLock lock(mutex_);
    running_.emplace_back(lane, claim);
    begun_.push_back(lane);
  }

  mutable Mutex mutex_;
  std::deque<std::pair<int, Claim>> running_ GUARDED_BY(mutex_);
  std::vector<int> begun_ GUARDED_BY(mutex_);
  std::deque<Jobs> jobs_;
  std::vector<std::unique_ptr<TestPool>> pools_;
};

}  // namespace

TEST_CASE("permits go to waiting pools in turn, and never exceed the limit") {
  Permits permits(2);
  Client holder, a, b, c;
  CHECK(permits.take(holder));
  CHECK(permits.available(holder));
  CHECK(permits.take(holder));
  for (auto* client : {&a, &b, &c}) CHECK_FALSE(permits.take(*client));
  CHECK(permits.waiting() == 3);
  CHECK(permits.in_use() == 2);
  CHECK(permits.give_back() == &a);
  CHECK(permits.in_use() == 2);
  CHECK(permits.leave(b));
  CHECK_FALSE(permits.leave(a));
  permits.set_limit(1);
  CHECK(permits.give_back() == nullptr);
  CHECK(permits.give_back() == &c);
  CHECK(permits.give_back() == nullptr);
  CHECK(permits.in_use() == 0);
  CHECK(permits.waiting() == 0);
}

TEST_CASE("a higher limit wakes waiting pools") {
  Permits permits(1);
  Client a, b, c;
  CHECK(permits.take(a));
  CHECK_FALSE(permits.take(b));
  CHECK_FALSE(permits.available(c));
  permits.set_limit(2);
  CHECK(b.got == 1);
  CHECK(c.got == 0);
  permits.set_limit(8);
  CHECK(c.got == 1);
  CHECK(permits.in_use() == 3);
  CHECK(permits.limit() == 8);
}

TEST_CASE("sixteen pools run exactly as many claims as a changing limit allows") {
  const bool asynchronous = GENERATE(false, true);
  Permits permits(5);
  Lanes lanes(permits, 16, asynchronous);
  for (int lane = 0; lane < 16; ++lane) lanes.submit(lane, 20);
  std::size_t left = 16 * 20;
  REQUIRE(lanes.run(5));
  for (const std::uint32_t limit : {5, 1, 12, 64, 3, 16, 2}) {
    // A lower limit takes effect as claims finish, and none begins before.
    const auto before = lanes.running();
    if (limit < before) {
      permits.set_limit(limit);
      for (auto running = before; running > limit; --running, --left) {
        CHECK(lanes.running() == running);
        CHECK(permits.in_use() == running);
        lanes.finish_first();
      }
    }
    permits.set_limit(limit);
    REQUIRE(lanes.run(limit));
    for (int i = 0; i < 20; ++i, --left) {
      CHECK(permits.in_use() == limit);
      lanes.finish_first();
      REQUIRE(lanes.run(limit));
    }
  }
  for (; left > 0; --left) {
    REQUIRE(lanes.run(std::min<std::size_t>(left, 2)));
    lanes.finish_first();
  }
  CHECK(lanes.drained());
  CHECK(lanes.all_ran());
  CHECK(eventually([&] { return permits.in_use() == 0; }));
  CHECK(permits.waiting() == 0);
}

TEST_CASE("with one permit the pools take turns") {
  const bool asynchronous = GENERATE(false, true);
  Permits permits(1);
  Lanes lanes(permits, 4, asynchronous);
  for (int lane = 0; lane < 4; ++lane) {
    lanes.submit(lane, 3);
    // Whoever comes first has the permit; the others queue in the order of their submissions.
    if (lane == 0) REQUIRE(lanes.run(1));
  }
  CHECK(eventually([&] { return permits.waiting() == 4; }));
  for (const std::uint32_t waiting : {4, 4, 4, 4, 4, 3, 3, 3, 3, 2, 1, 0}) {
    REQUIRE(lanes.run(1));
    // The pool that has just begun a claim is in the queue again if it has more.
    CHECK(eventually([&] { return permits.waiting() == waiting; }));
    lanes.finish_first();
  }
  CHECK(lanes.begun() == std::vector<int>{0, 0, 1, 2, 3, 0, 1, 2, 3, 1, 2, 3});
}

TEST_CASE("a stuck claim returns its permit once, to the pool that waits") {
  const bool asynchronous = GENERATE(false, true);
  Permits permits(1);
  Lanes lanes(permits, 2, asynchronous, 1);
  lanes.submit(0, 2);
  REQUIRE(lanes.run(1));
  lanes.submit(1, 2);
  REQUIRE(eventually([&] { return permits.waiting() == 1; }));
  const auto now = SteadyClock::now();
  CHECK(lanes[0]->tick(now + seconds(1001)).empty());
  CHECK(lanes[0]->tick(now + seconds(1011)).size() == 1);
  REQUIRE(lanes.run(2));
  CHECK(lanes.begun() == std::vector<int>{0, 1});
  CHECK(permits.in_use() == 1);
  // The slot that replaces the stuck one waits for a permit in turn, and the end of the stuck claim frees
  // none.
  REQUIRE(eventually([&] { return permits.waiting() == 1; }));
  lanes.finish_first();
  CHECK(permits.in_use() == 1);
  CHECK(lanes.running() == 1);
  lanes.finish_first();
  REQUIRE(lanes.run(1));
  CHECK(lanes.begun() == std::vector<int>{0, 1, 0});
  lanes.finish_first();
  REQUIRE(lanes.run(1));
  lanes.finish_first();
  CHECK(eventually([&] { return permits.in_use() == 0; }));
  CHECK(lanes.all_ran());
}

TEST_CASE("a pool that waits for a permit ends when its jobs have run or been withdrawn") {
  const bool asynchronous = GENERATE(false, true);
  const bool withdrawn = GENERATE(false, true);
  Permits permits(1);
  Client holder;
  REQUIRE(permits.take(holder));
  Lanes lanes(permits, 1, asynchronous);
  lanes.submit(0, 2);
  REQUIRE(eventually([&] { return permits.waiting() == 1; }));
  CHECK_FALSE(lanes[0]->join(Deadline::in(Duration::zero())));
  CHECK(permits.waiting() == 1);
  if (withdrawn) {
    CHECK(lanes[0]->withdraw(0).size() == 1);
    CHECK(permits.waiting() == 0);
    CHECK(lanes[0]->join(Deadline::in(patience)));
    CHECK(permits.give_back() == nullptr);
  } else {
    std::thread giver([&] {
      for (auto* next = permits.give_back(); next != nullptr; next = nullptr) next->permitted();
      for (int job = 0; job < 2; ++job)
        if (lanes.run(1)) lanes.finish_first();
    });
    CHECK(lanes[0]->join(Deadline::in(patience)));
    giver.join();
    CHECK(lanes.all_ran());
  }
  CHECK(permits.in_use() == 0);
  CHECK(permits.waiting() == 0);
}

TEST_CASE("a permit that comes too late for a withdrawn job goes to the next pool, and the first one ends") {
  const bool asynchronous = GENERATE(false, true);
  Permits permits(1);
  Client holder;
  REQUIRE(permits.take(holder));
  Lanes lanes(permits, 2, asynchronous);
  for (int lane = 0; lane < 2; ++lane) {
    lanes.submit(lane, 1);
    REQUIRE(eventually([&] { return permits.waiting() == static_cast<std::uint32_t>(lane) + 1; }));
  }
  auto* first = permits.give_back();
  REQUIRE(first != nullptr);
  CHECK(lanes[0]->withdraw(0).size() == 1);
  // The pool lives until it has been called.
  CHECK_FALSE(lanes[0]->join(Deadline::in(Duration::zero())));
  CHECK(lanes.running() == 0);
  std::thread caller([&] { first->permitted(); });
  CHECK(lanes[0]->join(Deadline::in(patience)));
  caller.join();
  REQUIRE(lanes.run(1));
  CHECK(lanes.begun() == std::vector<int>{1});
  CHECK(permits.in_use() == 1);
  lanes.finish_first();
  CHECK(eventually([&] { return permits.in_use() == 0; }));
}

TEST_CASE("a permit kept for a worker that then finds no job goes to the pool that waits") {
  Permits permits(1);
  Gate gate;
  Claim first;
  TestPool pool(
      with_permits(permits, false, 2),
      [&](const Claim& claim) {
        first = claim;
        gate.pass();
      },
      TestPool::Finish::later);
  TestPool other(with_permits(permits, false, 1), run_jobs);
  auto jobs = single_jobs(3);
  REQUIRE(pool->try_submit(jobs[0]).taken == 1);
  REQUIRE(gate.holds(1));
  REQUIRE(pool->try_submit(jobs[1]).taken == 1);
  REQUIRE(eventually([&] { return permits.waiting() == 1; }));
  REQUIRE(other->try_submit(jobs[2]).taken == 1);
  REQUIRE(eventually([&] { return permits.waiting() == 2; }));
  pool->finish(first);  // its worker has not returned yet, and would begin the next job
  REQUIRE(permits.waiting() == 1);
  CHECK(pool->withdraw(0).size() == 1);
  gate.open();
  CHECK(eventually([&] { return jobs[2].all_ran(); }));
  CHECK(other->withdraw(0).empty());
  CHECK(other->join(Deadline::in(patience)));
  CHECK(pool->join(Deadline::in(patience)));
  CHECK(permits.in_use() == 0);
}

TEST_CASE("a pool whose workers are reduced while it waits for a permit leaves the permits to others") {
  const bool asynchronous = GENERATE(false, true);
  Permits permits(1);
  Lanes lanes(permits, 2, asynchronous, 2);
  lanes.submit(0, 3);
  REQUIRE(lanes.run(1));
  REQUIRE(eventually([&] { return permits.waiting() == 1; }));
  lanes[0]->resize(1, 1000);
  CHECK(permits.waiting() == 0);
  lanes.submit(1, 1);
  REQUIRE(eventually([&] { return permits.waiting() == 1; }));
  for (int claim = 0; claim < 4; ++claim) {
    REQUIRE(lanes.run(1));
    lanes.finish_first();
  }
  CHECK(lanes.begun() == std::vector<int>{0, 1, 0, 0});
  CHECK(eventually([&] { return permits.in_use() == 0; }));
}

TEST_CASE("a permit for which no thread can be started goes to the next pool, and the job runs later") {
  Permits permits(2);
  Client holder;
  REQUIRE(permits.take(holder));
  Gate gate;
  TestPool pool(with_permits(permits, false, 2), [&](const Claim& claim) {
    gate.pass();
    run_jobs(claim);
  });
  auto jobs = single_jobs(2);
  REQUIRE(pool->try_submit(jobs[0]).taken == 1);
  REQUIRE(gate.holds(1));
  REQUIRE(pool->try_submit(jobs[1]).taken == 1);
  REQUIRE(eventually([&] { return permits.waiting() == 1; }));
  Client other;
  CHECK_FALSE(permits.take(other));
  auto* next = permits.give_back();
  REQUIRE(next != nullptr);
  refuse_threads = true;
  next->permitted();
  refuse_threads = false;
  CHECK(pool->snapshot().start_failures == 1);
  CHECK(other.got == 1);
  CHECK(permits.waiting() == 0);
  CHECK(permits.give_back() == nullptr);
  pool->tick(SteadyClock::now());
  pool->tick(SteadyClock::now());
  CHECK(gate.holds(2));
  gate.open();
  CHECK(pool->join(Deadline::in(patience)));
  for (const auto& job : jobs) CHECK(job.all_ran());
  CHECK(permits.in_use() == 0);
}
