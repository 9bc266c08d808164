// Submitting: accepted, refused with a reason, and never lost.
#include "worker_pool/support.h"

namespace laneway {
namespace {

using namespace std::chrono_literals;

TEST_CASE("every accepted job runs once") {
  WorkerPool pool(pool_options(4, 64));
  std::vector<std::atomic<int>> ran(10000);
  for (auto& one : ran) REQUIRE(pool.submit([&one] { ++one; }));
  pool.wait_idle();
  for (const auto& one : ran) REQUIRE(one == 1);
  REQUIRE(pool.metrics().completed == ran.size());
}

TEST_CASE("two workers and a queue of four accept six jobs, and refuse the seventh without blocking") {
  PoolGate gate;
  WorkerPool pool(pool_options(2, 4));
  for (int i = 0; i < 6; ++i) REQUIRE(pool.try_submit([&] { gate.pass(); }));
  const auto seventh = pool.try_submit([&] { gate.pass(); });
  REQUIRE(seventh.verdict == Verdict::full);
  REQUIRE(seventh.text() == "job queue full (4/4)");
  REQUIRE(gate.holds(2));
  REQUIRE(pool.metrics().queued == 4);
  REQUIRE(pool.metrics().rejected_full == 1);
  gate.open();
  pool.wait_idle();
  REQUIRE(pool.try_submit([] {}));
}

TEST_CASE("a closed pool refuses jobs, and finishes its accepted ones") {
  PoolGate gate;
  WorkerPool pool(pool_options(1, 4));
  std::atomic<int> ran = 0;
  REQUIRE(pool.submit([&] { gate.pass(); }));
  REQUIRE(pool.submit([&] { ++ran; }));
  pool.close();
  const auto refused = pool.submit([&] { ++ran; });
  REQUIRE(refused.verdict == Verdict::closed);
  REQUIRE(refused.text() == "pool closed; not accepting new jobs");
  gate.open();
  REQUIRE(pool.stop(1min).drained);
  REQUIRE(ran == 1);
}

TEST_CASE("a blocked submission is accepted when a job ends, although the next job of its claim lasts") {
  WorkerPool pool(pool_options(1, 1));
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 100; ++i) {  // the pool learns that jobs are short: a claim takes two
      pool.pause();
      for (int job = 0; job < 2; ++job) REQUIRE(pool.submit([] {}));
      pool.resume();
      pool.wait_idle();
    }
    PoolGate gate;
    pool.pause();
    REQUIRE(pool.submit([] {}));
    REQUIRE(pool.submit([&] { gate.pass(); }));
    std::atomic<int> thread = 0;
    std::atomic<bool> accepted = false;
    std::thread submitter([&] {
      thread = ::gettid();
      accepted = pool.submit([] {}).verdict == Verdict::accepted;
    });
    REQUIRE(eventually([&] { return thread != 0; }));
    REQUIRE(eventually([&] { return thread_sleeps(thread); }));
    pool.resume();
    REQUIRE(gate.holds(1));
    REQUIRE(eventually([&] { return accepted.load(); }));
    REQUIRE(gate.holds(1));  // still: the gate itself gives up some time
    gate.open();
    submitter.join();
    pool.wait_idle();
  }
}

TEST_CASE("a job runs although all workers have just parked and one of them watches") {
  WorkerPool pool(pool_options(2, 200));
  learn_short_jobs(pool);
  for (int i = 0; i < 500; ++i) {
    REQUIRE(eventually([&] { return pool.metrics().idle == pool.metrics().threads; }));
    REQUIRE(pool.submit_and_wait([] { return true; }));
  }
}

}  // namespace
}  // namespace laneway
