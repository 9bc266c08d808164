// Calls at the wrong moment: submit, pause, stop and the destructor against each other, errors in errors.
#include <algorithm>
#include <set>

#include "worker_pool/support.h"

namespace laneway {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a stop with a zero deadline loses no job: each has run, is returned, or is reported as running") {
  for (int round = 0; round < 300; ++round) {
    auto options = pool_options(1 + round % 3, 64);
    options.idle = round % 2 == 0 ? 0ms : 3600s;
    constexpr int jobs = 2000;
    std::vector<std::atomic<int>> ran(jobs);
    const auto shared = std::make_shared<int>(0);
    std::atomic<bool> stopped = false;
    std::atomic<int> begun_late = 0, submitted = 0;
    StopReport report;
    int accepted = 0;
    {
      WorkerPool pool(options);
      std::thread submitter([&] {
        for (auto& one : ran) {
          if (!pool.submit([&, shared] {
                if (stopped) ++begun_late;
                ++one;
              }))
            break;
          ++accepted;
          ++submitted;
        }
      });
      while (submitted < 100) std::this_thread::yield();
      report = pool.stop(0ms, 0ms);
      stopped = true;
      submitter.join();
    }
    const int sum = std::count_if(ran.begin(), ran.end(), [](const auto& one) { return one > 0; });
    REQUIRE(std::all_of(ran.begin(), ran.end(), [](const auto& one) { return one <= 1; }));
    REQUIRE(sum + static_cast<int>(report.abandoned.size()) == accepted);
    REQUIRE(begun_late <= static_cast<int>(report.running.size()));
    for (const auto& job : report.abandoned) REQUIRE(ran[job.id] == 0);
    for (const auto& job : report.running) REQUIRE(ran[job.id] == 1);
    REQUIRE(shared.use_count() == 1);
  }
}

TEST_CASE("a pause does not delay a stop") {
  PoolGate gate;
  WorkerPool pool(pool_options(1, 10));
  std::atomic<int> ran = 0;
  REQUIRE(pool.submit([&] { gate.pass(); }));
  REQUIRE(gate.holds(1));
  REQUIRE(pool.submit([&] { ++ran; }));
  StopReport report;
  std::thread stopper([&] { report = pool.stop(10min); });
  REQUIRE(eventually([&] { return pool.state() == PoolState::draining; }));
  pool.pause();
  gate.open();
  stopper.join();
  REQUIRE(report.drained);
  REQUIRE(ran == 1);
  pool.pause();
  REQUIRE(pool.state() == PoolState::stopped);
}

TEST_CASE("accepted jobs run although pausing, resuming and observing race with submissions and a stop") {
  for (int round = 0; round < 50; ++round) {
    auto options = pool_options(3, 16);
    options.idle = round % 2 == 0 ? 0ms : 3600s;  // threads come and go during the stop
    options.min_workers = round % 3;
    options.job_timeout = round % 5 == 0 ? 1h : 0h;
    WorkerPool pool(options);
    std::atomic<int> ran = 0, accepted = 0;
    std::atomic<bool> ended = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&, i] {
        JobOptions named;
        named.name = "named";
        for (;;) {
          const auto answer = i == 0 ? pool.submit(named, [&] { ++ran; }) : pool.submit([&] { ++ran; });
          if (!answer) break;
          ++accepted;
        }
      });
    threads.emplace_back([&] {
      while (!ended) {
        pool.pause();
        static_cast<void>(pool.metrics());
        pool.resume();
        static_cast<void>(pool.health());
        static_cast<void>(pool.state());
        static_cast<void>(pool.wait_idle_for(0ms));
      }
    });
    while (accepted < 100) std::this_thread::yield();
    REQUIRE(pool.stop(10min).drained);
    ended = true;
    for (auto& thread : threads) thread.join();
    REQUIRE(ran == accepted);
    REQUIRE(pool.metrics().completed == static_cast<std::uint64_t>(accepted));
  }
}

TEST_CASE("a job that is reported as running has its name, even if it ends at that moment") {
  JobOptions named;
  named.name = "resize";
  for (int round = 0; round < 1000; ++round) {
    std::atomic<bool> begun = false;
    WorkerPool pool(pool_options(1, 10));
    REQUIRE(pool.submit(named, [&](std::stop_token stop) {
      begun = true;
      while (!stop.stop_requested()) {
      }
    }));
    while (!begun) std::this_thread::yield();
    const auto report = pool.stop(0ms, std::chrono::nanoseconds(round % 40 * 500));
    for (const auto& job : report.running) REQUIRE(job.name == "resize");
  }
}

TEST_CASE("submitters that wait for room are all refused when the pool is closed") {
  PoolGate gate;
  WorkerPool pool(pool_options(1, 1));
  for (int i = 0; i < 2; ++i) REQUIRE(pool.submit([&] { gate.pass(); }));
  std::atomic<int> waiting = 0, refused = 0;
  std::vector<std::thread> submitters;
  for (int i = 0; i < 8; ++i)
    submitters.emplace_back([&] {
      ++waiting;
      if (pool.submit([] {}).verdict == Verdict::closed) ++refused;
    });
  REQUIRE(eventually([&] { return waiting == 8; }));
  pool.close();
  for (auto& submitter : submitters) submitter.join();
  REQUIRE(refused == 8);
  gate.open();
}

/// A job that is held while it is moved into the queue: its place is reserved, and it is not there yet.
struct HeldOnTheWay {
  PoolGate* gate;
  std::atomic<int>* ran;
  HeldOnTheWay(PoolGate* at, std::atomic<int>* count) : gate(at), ran(count) {}
  HeldOnTheWay(HeldOnTheWay&& other) noexcept : gate(std::exchange(other.gate, nullptr)), ran(other.ran) {
    if (gate) gate->pass();
    gate = nullptr;
  }
  void operator()() const { ++*ran; }
};

TEST_CASE("a pool that is closed during a submission runs or reports the job") {
  for (const bool drains : {true, false}) {
    PoolGate gate;
    std::atomic<int> ran = 0;
    WorkerPool pool(pool_options(1, 10));
    Submission answer{.verdict = Verdict::closed};
    std::thread submitter([&] { answer = pool.submit(HeldOnTheWay(&gate, &ran)); });
    REQUIRE(gate.holds(1));
    pool.close();
    REQUIRE(pool.try_submit([] {}).verdict == Verdict::closed);
    StopReport report;
    std::thread stopper([&] { report = drains ? pool.stop(10min) : pool.stop(0ms, 0ms); });
    REQUIRE(eventually([&] { return pool.state() == PoolState::draining; }));
    gate.open();
    submitter.join();
    stopper.join();
    REQUIRE(answer);
    REQUIRE(ran + static_cast<int>(report.abandoned.size() + report.running.size()) >= 1);
    if (drains) REQUIRE(report.drained);
    if (report.drained) REQUIRE(ran == 1);
    for (const auto& job : report.abandoned) REQUIRE((job.id == answer.id && ran == 0));
  }
}

TEST_CASE("a second stop returns the first report, also if the first gave up") {
  PoolGate gate;
  WorkerPool pool(pool_options(1, 10));
  REQUIRE(pool.submit([&] { gate.pass(); }));
  REQUIRE(gate.holds(1));
  REQUIRE(pool.submit([] {}));
  const auto first = pool.stop(0ms, 0ms);
  const auto second = pool.stop(1h, 1h);
  REQUIRE_FALSE(second.drained);
  REQUIRE(second.text == first.text);
  REQUIRE(second.abandoned.size() == 1);
  pool.close();
  REQUIRE(pool.try_submit([] {}).verdict == Verdict::closed);
  gate.open();
}

TEST_CASE("the destructor runs queued jobs, also of a paused pool and of a pool without threads") {
  std::atomic<int> ran = 0;
  for (const bool paused : {false, true}) {
    auto options = pool_options(2, 100);
    options.paused = paused;
    options.drain = 10min;
    WorkerPool pool(options);
    for (int i = 0; i < 100; ++i) REQUIRE(pool.submit([&] { ++ran; }));
  }
  REQUIRE(ran == 200);
}

TEST_CASE("a chain of jobs that submit to their own pool ends when the pool is stopped") {
  auto pool = std::make_unique<WorkerPool>(pool_options(2, 10));
  std::atomic<int> links = 0;
  std::atomic<bool> refused = false;
  std::function<void()> link = [&] {
    ++links;
    if (pool->try_submit(link).verdict == Verdict::closed) refused = true;
  };
  REQUIRE(pool->submit(link));
  REQUIRE(eventually([&] { return links > 100; }));
  REQUIRE(pool->stop(10min).drained);
  REQUIRE(refused);
  REQUIRE(pool->metrics().completed == static_cast<std::uint64_t>(links));
}

/// Submits itself to one queue after the other.
struct Chain {
  WorkerPool* pool;
  std::atomic<int>* left;
  void operator()() const {
    if (--*left > 0) static_cast<void>(pool->submit(Chain(*this)));
  }
};

TEST_CASE("a pool of several queues is idle only after a chain through all queues has ended") {
  auto options = pool_options(5, 50);
  options.distribution = Distribution::round_robin;
  WorkerPool pool(options);
  int early = 0;
  for (int round = 0; round < 2000; ++round) {
    std::atomic<int> left = 20;
    REQUIRE(pool.submit(Chain{&pool, &left}));
    while (!pool.wait_idle_for(0ms)) {
    }
    early += left > 0 ? 1 : 0;
    while (left > 0) std::this_thread::yield();
    pool.wait_idle();
  }
  REQUIRE(early == 0);
}

TEST_CASE("jobs may throw on all workers at once, with an on_error that throws, too") {
  std::atomic<int> errors = 0;
  auto options = pool_options(4, 16);
  options.on_error = [&](const JobError& error) {
    ++errors;
    throw std::runtime_error(error.what);
  };
  WorkerPool pool(options);
  std::vector<std::thread> submitters;
  for (int i = 0; i < 4; ++i)
    submitters.emplace_back([&, i] {
      for (int job = 0; job < 500; ++job)
        static_cast<void>(pool.submit([i] {
          if (i == 0) throw i;
          if (i == 1) throw std::runtime_error("x");
        }));
    });
  for (auto& submitter : submitters) submitter.join();
  pool.wait_idle();
  REQUIRE(errors == 1000);
  REQUIRE(pool.metrics().failed == 1000);
  REQUIRE(pool.metrics().completed == 1000);
  REQUIRE(pool.health().healthy);
}

TEST_CASE("unlimited durations do not overflow") {
  WorkerPool pool(pool_options(1, 1));
  REQUIRE(pool.submit_for(std::chrono::nanoseconds::max(), [] {}));
  REQUIRE(pool.submit_until(WorkerPool::Clock::time_point::max(), [] {}));
  REQUIRE(pool.wait_idle_for(std::chrono::nanoseconds::max()));
  REQUIRE(pool.submit_for(std::chrono::nanoseconds::min(), [] {}));
  JobOptions late;
  late.begin_by = WorkerPool::Clock::time_point::max();
  late.timeout = std::chrono::nanoseconds::max();
  REQUIRE(pool.submit(late, [] {}));
  REQUIRE(pool.stop(std::chrono::nanoseconds::max(), std::chrono::nanoseconds::max()).drained);
  REQUIRE(pool.metrics().expired == 0);
  REQUIRE(pool.metrics().timed_out == 0);
}

}  // namespace
}  // namespace laneway
