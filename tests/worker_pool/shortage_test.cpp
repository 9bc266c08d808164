// A system that refuses threads.
#include <pthread.h>

#include "worker_pool/support.h"

namespace laneway {
namespace {

using namespace std::chrono_literals;

/// Threads of the process get this much stack, which no machine has: none can be started.
class NoThreads {
 public:
  NoThreads() {
    ::pthread_getattr_default_np(&before_);
    auto none = before_;
    ::pthread_attr_setstacksize(&none, std::size_t{1} << 46);
    ::pthread_setattr_default_np(&none);
  }
  ~NoThreads() { ::pthread_setattr_default_np(&before_); }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_;
};

TEST_CASE("without any thread, and with no way to start one, a job is refused with this reason") {
  WorkerPool pool(pool_options(2, 10));
  {
    const NoThreads none;
    const auto refused = pool.try_submit([] {});
    REQUIRE(refused.verdict == Verdict::no_thread);
    REQUIRE(refused.text() == "the pool has no thread, and the system refused to start one");
    REQUIRE(pool.submit([] {}).verdict == Verdict::no_thread);
    REQUIRE(pool.metrics().thread_start_failures == 2);
    auto options = pool_options(2, 10);
    options.min_workers = 1;
    REQUIRE_THROWS_AS(WorkerPool(options), std::system_error);
  }
  REQUIRE(pool.submit_and_wait([] { return 7; }) == 7);
}

TEST_CASE("a refused thread does not count as a thread, so each job of several submitters is refused") {
  WorkerPool pool(pool_options(2, 100));
  std::atomic<int> ready = 0, accepted = 0, counted = 0;
  std::atomic<bool> refusing = false;
  std::vector<std::thread> submitters;
  for (int i = 0; i < 3; ++i)
    submitters.emplace_back([&] {
      ++ready;
      while (!refusing) std::this_thread::yield();
      for (int job = 0; job < 2000; ++job) {
        accepted += pool.try_submit([] {}) ? 1 : 0;
        counted += pool.metrics().threads > 0 ? 1 : 0;
      }
    });
  REQUIRE(eventually([&] { return ready == 3; }));
  {
    const NoThreads none;
    refusing = true;
    for (auto& submitter : submitters) submitter.join();
  }
  REQUIRE(accepted == 0);
  REQUIRE(counted == 0);
}

TEST_CASE("one thread is enough if the system refuses others") {
  PoolGate gate;
  WorkerPool pool(pool_options(3, 100));
  REQUIRE(pool.submit([&] { gate.pass(); }));
  REQUIRE(gate.holds(1));
  std::atomic<int> ran = 0;
  {
    const NoThreads none;
    for (int i = 0; i < 50; ++i) REQUIRE(pool.submit([&] { ++ran; }));
    REQUIRE(pool.metrics().threads == 1);
    gate.open();
    pool.wait_idle();
  }
  REQUIRE(ran == 50);
}

TEST_CASE("a pool that cannot start a thread is not healthy until it can") {
  for (const auto distribution : {Distribution::shared, Distribution::round_robin}) {
    auto options = pool_options(2, 10);
    options.distribution = distribution;
    WorkerPool pool(options);
    REQUIRE(pool.health().healthy);
    if (distribution != Distribution::shared) pool.submit_and_wait([] {});  // of the first queue
    {
      const NoThreads none;
      REQUIRE(pool.try_submit([] {}).verdict == Verdict::no_thread);
      REQUIRE(pool.health().reason == "pool test: no thread could be started");
    }
    REQUIRE(pool.health().healthy);  // it tries again: nobody may send jobs to a pool that is not
  }
}

TEST_CASE("a refused thread is requested again when a job ends, and by health()") {
  PoolGate first, second;
  WorkerPool pool(pool_options(2, 10));
  std::atomic<int> ran = 0;
  REQUIRE(pool.submit([&] { first.pass(); }));
  REQUIRE(first.holds(1));
  bool by_health = false;
  SECTION("when a job ends") {
    const NoThreads none;
    REQUIRE(pool.submit([&] { second.pass(); }));
  }
  SECTION("by health()") { by_health = true; }
  {
    const NoThreads none;
    REQUIRE(pool.submit([&] { ++ran; }));
    REQUIRE(pool.metrics().threads == 1);
  }
  if (by_health)
    REQUIRE(pool.health().healthy);
  else
    first.open();
  REQUIRE(eventually([&] { return ran == 1; }));
  REQUIRE((by_health ? first : second).holds(1));
  first.open();
  second.open();
}

TEST_CASE("jobs with a timeout run without the timer's thread, and are stopped once it exists") {
  WorkerPool pool(pool_options(2, 10));
  PoolGate both;
  for (int i = 0; i < 2; ++i) REQUIRE(pool.submit([&] { both.pass(); }));
  REQUIRE(both.holds(2));
  both.open();
  std::atomic<bool> begun = false, stopped = false;
  JobOptions with_timeout;
  with_timeout.timeout = 1ms;
  {
    const NoThreads none;
    REQUIRE(pool.submit(with_timeout, [&](std::stop_token stop) {
      begun = true;
      stopped = eventually([&] { return stop.stop_requested(); });
    }));
    REQUIRE(eventually([&] { return begun.load(); }));
    REQUIRE(pool.metrics().thread_start_failures == 1);
  }
  with_timeout.timeout = 1h;
  REQUIRE(pool.submit(with_timeout, [] {}));
  pool.wait_idle();
  REQUIRE(stopped);
  REQUIRE(pool.metrics().timed_out == 1);
}

}  // namespace
}  // namespace laneway
