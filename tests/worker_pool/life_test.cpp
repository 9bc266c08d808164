// The life of a pool: states, threads, pausing, stopping.
#include <algorithm>
#include <array>
#include <set>

#include "worker_pool/support.h"

namespace laneway {
namespace {

using namespace std::chrono_literals;

template <class Error, class Function>
std::string text_of(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_CASE("a pool without workers, or with fewer than min_workers, is refused when it is constructed") {
  const auto with = [](unsigned workers, unsigned least) {
    return text_of<std::invalid_argument>([&] {
      auto options = pool_options(workers, 4);
      options.min_workers = least;
      WorkerPool pool(options);
    });
  };
  REQUIRE(with(0, 0) == "pool test: workers is 0; a pool needs at least 1");
  REQUIRE(with(2, 3) == "pool test: min_workers is 3, more than workers, which is 2");
  REQUIRE(with(2, 2) == "nothing was thrown");
}

TEST_CASE("a pool goes through its states in order") {
  PoolGate gate;
  WorkerPool pool(pool_options(1, 4));
  REQUIRE(pool.state() == PoolState::initialized);
  REQUIRE(pool.submit([&] { gate.pass(); }));
  REQUIRE(pool.state() == PoolState::running);
  pool.pause();
  REQUIRE(pool.state() == PoolState::paused);
  pool.resume();
  REQUIRE(pool.state() == PoolState::running);
  REQUIRE(pool.health().healthy);
  pool.close();
  REQUIRE(pool.state() == PoolState::draining);
  REQUIRE(pool.health().reason == "pool test: draining");
  gate.open();
  REQUIRE(pool.stop(1min).text == "drained");
  REQUIRE(pool.state() == PoolState::stopped);
  REQUIRE_FALSE(pool.health().healthy);
}

TEST_CASE("threads are started on demand, and never more than the workers") {
  PoolGate gate;
  WorkerPool pool(pool_options(4, 100));
  REQUIRE(pool.metrics().threads == 0);
  for (int running = 1; running <= 4; ++running) {
    REQUIRE(pool.submit([&] { gate.pass(); }));
    REQUIRE(gate.holds(running));
    REQUIRE(pool.metrics().threads == static_cast<unsigned>(running));
  }
  for (int i = 0; i < 50; ++i) REQUIRE(pool.submit([&] { gate.pass(); }));
  REQUIRE(pool.metrics().threads == 4);
  REQUIRE(pool.metrics().running == 4);
  gate.open();
  pool.wait_idle();
}

TEST_CASE("a job goes to an idle thread first, then to a new one, then into the queue") {
  PoolGate gate;
  WorkerPool pool(pool_options(2, 10));
  const auto job = [&] { gate.pass(); };
  const auto running_threads_queued = [&] {
    const auto metrics = pool.metrics();
    return std::array<std::uint64_t, 3>{metrics.running, metrics.threads, metrics.queued};
  };
  REQUIRE(pool.submit([] {}));
  REQUIRE(eventually([&] { return pool.metrics().idle == 1; }));
  REQUIRE(pool.submit(job));  // the idle thread takes it
  REQUIRE(gate.holds(1));
  REQUIRE(running_threads_queued() == std::array<std::uint64_t, 3>{1, 1, 0});
  REQUIRE(pool.submit(job));  // no thread is idle: a new one
  REQUIRE(gate.holds(2));
  REQUIRE(running_threads_queued() == std::array<std::uint64_t, 3>{2, 2, 0});
  REQUIRE(pool.submit(job));  // there may be no more
  REQUIRE(running_threads_queued() == std::array<std::uint64_t, 3>{2, 2, 1});
  gate.open();
  pool.wait_idle();
}

TEST_CASE("any free worker takes the next job: a job that hangs delays no other") {
  PoolGate gate;
  std::atomic<int> ran = 0;
  WorkerPool pool(pool_options(2, 100));
  REQUIRE(pool.submit([&] { gate.pass(); }));
  REQUIRE(gate.holds(1));
  for (int i = 0; i < 100; ++i) REQUIRE(pool.submit([&] { ++ran; }));
  REQUIRE(eventually([&] { return ran == 100; }));
  REQUIRE(gate.holds(1));
  gate.open();
}

TEST_CASE("many simultaneous submitters never start more threads than allowed") {
  for (int round = 0; round < 20; ++round) {
    WorkerPool pool(pool_options(3, 1000));
    std::atomic<int> running = 0, most = 0;
    std::vector<std::thread> submitters;
    for (int i = 0; i < 4; ++i)
      submitters.emplace_back([&] {
        for (int job = 0; job < 50; ++job) {
          static_cast<void>(pool.submit([&] {
            const int now = ++running;
            for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
            }
            std::this_thread::yield();
            --running;
          }));
          if (pool.metrics().threads > 3) ++most;
        }
      });
    for (auto& submitter : submitters) submitter.join();
    pool.wait_idle();
    REQUIRE(most <= 3);
  }
}

TEST_CASE("idle threads end, except the kept ones") {
  auto options = pool_options(4, 100);
  options.min_workers = 1;
  options.idle = 1ms;
  PoolGate gate;  // outlives the pool: the last job may still leave it when the test ends
  WorkerPool pool(options);
  REQUIRE(pool.metrics().threads == 1);
  for (int i = 0; i < 4; ++i) REQUIRE(pool.submit([&] { gate.pass(); }));
  REQUIRE(gate.holds(4));
  gate.open();
  REQUIRE(eventually([&] { return pool.metrics().threads == 1; }));
  std::atomic<bool> ran = false;
  REQUIRE(pool.submit([&] { ran = true; }));
  REQUIRE(eventually([&] { return ran.load(); }));
}

TEST_CASE("idle threads end although a job runs for long after short ones") {
  PoolGate gate;
  auto options = pool_options(4, 200);
  options.idle = 1ms;
  WorkerPool pool(options);
  learn_short_jobs(pool);
  REQUIRE(pool.submit([&] { gate.pass(); }));
  REQUIRE(gate.holds(1));
  for (int i = 0; i < 1000; ++i) REQUIRE(pool.submit([] {}));
  REQUIRE(eventually([&] { return pool.metrics().threads == 1; }));
  REQUIRE(gate.holds(1));
  REQUIRE(pool.submit_and_wait([] { return true; }));
  gate.open();
}

TEST_CASE("a thread without an idle limit is kept") {
  auto options = pool_options(1, 10);
  options.idle = std::chrono::nanoseconds::max();
  WorkerPool pool(options);
  for (int i = 1; i <= 20; ++i) {
    thread_local int jobs_of_thread = 0;
    REQUIRE(pool.submit_and_wait([] { return ++jobs_of_thread; }) == i);
    REQUIRE(eventually([&] { return pool.metrics().idle == pool.metrics().threads; }));
  }
}

TEST_CASE("a thread that takes long to end delays no submission, including its own") {
  struct AtEnd {
    PoolGate* gate = nullptr;
    WorkerPool* pool = nullptr;
    std::atomic<int>* accepted = nullptr;
    ~AtEnd() {
      gate->pass();
      *accepted += pool->try_submit([] {}) ? 1 : 0;
    }
  };
  PoolGate gate;
  std::atomic<int> accepted = 0;
  auto options = pool_options(1, 10);
  options.idle = 0ms;
  WorkerPool pool(options);
  for (int i = 1; i <= 3; ++i) {
    pool.submit_and_wait([&] {
      thread_local AtEnd at_end;
      at_end.gate = &gate;
      at_end.pool = &pool;
      at_end.accepted = &accepted;
    });
    REQUIRE(eventually([&] { return pool.metrics().threads == 0; }));
    REQUIRE(gate.holds(1));  // the next threads wait for this one when they end
    std::atomic<bool> ran = false;
    REQUIRE(pool.try_submit([&] { ran = true; }));
    REQUIRE(eventually([&] { return ran.load(); }));
  }
  REQUIRE(gate.holds(1));
  REQUIRE(accepted == 0);
  gate.open();
  REQUIRE(eventually([&] { return accepted == 3; }));
}

TEST_CASE("a pool whose threads have all ended runs the next job") {
  auto options = pool_options(2, 10);
  options.idle = 0ms;
  WorkerPool pool(options);
  for (int i = 0; i < 300; ++i) {
    std::atomic<bool> ran = false;
    REQUIRE(pool.submit([&] { ran = true; }));
    pool.wait_idle();
    REQUIRE(ran);
    if (i % 10 == 0) REQUIRE(eventually([&] { return pool.metrics().threads == 0; }));
  }
}

TEST_CASE("after a pool has ended, the process has as many threads as before") {
  const int before = threads_of_this_process();
  for (int round = 0; round < 10; ++round) {
    auto options = pool_options(8, 100);
    options.job_timeout = 1h;  // with a timekeeper
    options.min_workers = 2;
    WorkerPool pool(options);
    for (int i = 0; i < 50; ++i) REQUIRE(pool.submit([](std::stop_token) {}));
    if (round % 2 == 0) REQUIRE(pool.stop(1min).drained);
  }
  // A thread that was joined may be on the list for a moment: now, and one of an earlier test before.
  REQUIRE(eventually([&] { return threads_of_this_process() <= before; }));
}

TEST_CASE("a paused pool begins no job") {
  auto options = pool_options(2, 4);
  options.paused = true;
  WorkerPool pool(options);
  std::atomic<int> ran = 0;
  for (int i = 0; i < 6; ++i) REQUIRE(pool.try_submit([&] { ++ran; }));
  REQUIRE(pool.try_submit([&] { ++ran; }).verdict == Verdict::full);
  REQUIRE(pool.metrics().queued == 6);
  REQUIRE_FALSE(pool.wait_idle_for(20ms));
  REQUIRE(ran == 0);
  pool.resume();
  pool.wait_idle();
  REQUIRE(ran == 6);
}

TEST_CASE("pausing holds the unstarted jobs of a running claim") {
  PoolGate gate;
  WorkerPool pool(pool_options(1, 200));
  learn_short_jobs(pool);
  std::atomic<int> ran = 0;
  pool.pause();
  REQUIRE(pool.submit([&] { gate.pass(); }));
  for (int i = 0; i < 20; ++i) REQUIRE(pool.submit([&] { ++ran; }));
  pool.resume();
  REQUIRE(gate.holds(1));
  pool.pause();
  gate.open();
  REQUIRE(eventually([&] { return pool.metrics().running == 0; }));
  REQUIRE(ran == 0);
  pool.resume();
  pool.wait_idle();
  REQUIRE(ran == 20);
}

TEST_CASE("a paused pool whose jobs have all ended is idle, also at the end of a claim") {
  PoolGate gate;
  WorkerPool pool(pool_options(1, 200));
  learn_short_jobs(pool);
  pool.pause();
  for (int i = 0; i < 10; ++i) REQUIRE(pool.submit([] {}));
  REQUIRE(pool.submit([&] { gate.pass(); }));
  pool.resume();
  REQUIRE(gate.holds(1));
  pool.pause();
  gate.open();
  REQUIRE(pool.wait_idle_for(patience));
  pool.resume();
}

TEST_CASE("stop finishes all accepted jobs, also of a paused pool") {
  WorkerPool pool(pool_options(2, 100));
  std::atomic<int> ran = 0;
  pool.pause();
  for (int i = 0; i < 100; ++i) REQUIRE(pool.submit([&] { ++ran; }));
  const auto report = pool.stop(1min);
  REQUIRE(report.drained);
  REQUIRE(report.abandoned.empty());
  REQUIRE(ran == 100);
}

TEST_CASE("at the deadline running jobs are stopped, and the others are returned with their names") {
  WorkerPool pool(pool_options(2, 100));
  std::atomic<int> stopped = 0;
  for (int i = 0; i < 2; ++i)
    REQUIRE(pool.submit([&](std::stop_token stop) {
      if (eventually([&] { return stop.stop_requested(); })) ++stopped;  // no REQUIRE: it is for one thread
    }));
  REQUIRE(eventually([&] { return pool.metrics().running == 2; }));
  JobOptions resize;
  resize.name = "resize-7";
  const auto first = pool.submit(resize, [] {});
  const auto second = pool.submit([] {});
  const auto report = pool.stop(0ms, 1min);
  REQUIRE_FALSE(report.drained);
  REQUIRE(stopped == 2);
  REQUIRE(report.running.empty());
  REQUIRE(report.abandoned.size() == 2);
  REQUIRE(report.abandoned[0].id == first.id);
  REQUIRE(report.abandoned[0].name == "resize-7");
  REQUIRE(report.abandoned[1].id == second.id);
  REQUIRE(report.text == "pool test: drain timed out; abandoned jobs: 2 (2 resize-7, 3)");
  REQUIRE(pool.metrics().abandoned == 2);
  REQUIRE(pool.metrics().completed == 2);
}

TEST_CASE("a job that does not end is reported as running") {
  PoolGate gate;
  WorkerPool pool(pool_options(1, 100));
  JobOptions hung;
  hung.name = "hung";
  REQUIRE(pool.submit(hung, [&] { gate.pass(); }));
  REQUIRE(gate.holds(1));
  REQUIRE(pool.submit([] {}));
  const auto report = pool.stop(0ms, 0ms);
  REQUIRE(report.running.size() == 1);
  REQUIRE(report.running[0].name == "hung");
  REQUIRE(report.text == "pool test: drain timed out; abandoned jobs: 1 (1); still running: 1 (0 hung)");
  gate.open();  // the destructor waits for it
}

TEST_CASE("jobs of a claim whose first job hangs are given up, too") {
  PoolGate gate;
  WorkerPool pool(pool_options(1, 200));
  learn_short_jobs(pool);
  pool.pause();
  REQUIRE(pool.submit([&] { gate.pass(); }));
  for (int i = 0; i < 30; ++i) REQUIRE(pool.submit([] {}));
  pool.resume();
  REQUIRE(gate.holds(1));
  const auto report = pool.stop(0ms, 0ms);
  REQUIRE(report.abandoned.size() == 30);
  REQUIRE(report.running.size() == 1);
  gate.open();
}

TEST_CASE("a second stop, also a simultaneous one, returns the report of the first") {
  PoolGate gate;
  WorkerPool pool(pool_options(1, 100));
  REQUIRE(pool.submit([&] { gate.pass(); }));
  std::vector<StopReport> reports(3);
  std::vector<std::thread> stoppers;
  for (auto& report : reports) stoppers.emplace_back([&] { report = pool.stop(1min); });
  REQUIRE(eventually([&] { return pool.state() == PoolState::draining; }));
  gate.open();
  for (auto& stopper : stoppers) stopper.join();
  for (const auto& report : reports) REQUIRE(report.drained);
  REQUIRE(pool.stop(0ms).drained);
}

TEST_CASE("submissions that race with a stop are run, given up or refused, and none is lost") {
  for (int round = 0; round < 200; ++round) {
    auto pool = std::make_unique<WorkerPool>(pool_options(2, 16));
    std::atomic<int> accepted = 0, ran = 0;
    std::atomic<bool> refused = false;
    std::vector<std::thread> submitters;
    for (int i = 0; i < 3; ++i)
      submitters.emplace_back([&] {
        for (;;) {
          const auto answer = pool->submit([&] { ++ran; });
          if (answer.verdict == Verdict::closed) break;
          ++accepted;
        }
        refused = true;
      });
    while (accepted < 20) std::this_thread::yield();
    const auto report = pool->stop(round % 2 == 0 ? 1min : 0min, 1min);
    for (auto& submitter : submitters) submitter.join();
    REQUIRE(refused);
    REQUIRE(static_cast<std::size_t>(ran) + report.abandoned.size() == static_cast<std::size_t>(accepted));
  }
}

TEST_CASE("a call in a job that would wait for the job's own pool is refused") {
  WorkerPool pool(pool_options(2, 10));
  const auto refusal = [&](auto&& call) {
    return pool.submit_and_wait([&] { return text_of<std::logic_error>(call); });
  };
  REQUIRE(refusal([&] { pool.stop(0ms); }) ==
          "pool test: stop() was called by a job of the same pool, which it would wait for");
  REQUIRE(refusal([&] { pool.wait_idle(); }).find("wait_idle()") != std::string::npos);
  REQUIRE(refusal([&] { pool.submit_and_wait([] {}); }).find("submit_and_wait()") != std::string::npos);
}

TEST_CASE("a stop callback that stops its own pool is refused") {
  std::string refusal;
  WorkerPool pool(pool_options(1, 10));
  std::atomic<bool> begun = false;
  REQUIRE(pool.submit([&](std::stop_token stop) {
    const std::stop_callback callback(
        stop, [&] { refusal = text_of<std::logic_error>([&] { static_cast<void>(pool.stop(0ms)); }); });
    begun = true;
    eventually([&] { return stop.stop_requested(); });
  }));
  REQUIRE(eventually([&] { return begun.load(); }));
  REQUIRE(pool.stop(0ms, 1min).running.empty());
  REQUIRE(refusal == "pool test: stop() was called by a stop callback that stop() runs");
}

/// At the end of a thread, waits for the end of another one.
struct MeetsAtTheEnd {
  ~MeetsAtTheEnd() {
    ++ends;
    if (eventually([] { return ends == 2; })) ++meetings;
  }
  static inline std::atomic<int> ends = 0, meetings = 0;
};

TEST_CASE("the threads of a pool end side by side at the end of the pool") {
  PoolGate gate;
  {
    WorkerPool pool(pool_options(2, 10));
    for (int i = 0; i < 2; ++i)
      REQUIRE(pool.submit([&] {
        thread_local const MeetsAtTheEnd ends;
        (void)ends;
        gate.pass();
      }));
    REQUIRE(gate.holds(2));
    gate.open();
  }
  REQUIRE(MeetsAtTheEnd::meetings == 2);
}

}  // namespace
}  // namespace laneway
