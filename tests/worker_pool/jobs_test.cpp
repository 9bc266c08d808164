// What a job may be, what becomes of its result, its error and its time.
#include <pthread.h>

#include <array>
#include <coroutine>
#include <memory>
#include <set>

#include "worker_pool/support.h"

namespace laneway {
namespace {

using namespace std::chrono_literals;

TEST_CASE("an empty job is refused with a reason") {
  WorkerPool pool(pool_options(1, 10));
  const std::function<void()> empty;
  void (*null)() = nullptr;
  REQUIRE(pool.submit(empty).verdict == Verdict::no_job);
  REQUIRE(pool.try_submit(null).text() == "the job is empty: a null function cannot be run");
  REQUIRE_THROWS_AS(pool.submit_and_wait(empty), Rejected);
  REQUIRE(pool.metrics().submitted == 0);
}

TEST_CASE("large jobs, move-only jobs, and jobs with throwing moves are run and destroyed once") {
  struct Counted {
    std::atomic<int>* alive;
    explicit Counted(std::atomic<int>& count) : alive(&count) { ++*alive; }
    Counted(const Counted& other) noexcept(false) : alive(other.alive) { ++*alive; }
    ~Counted() { --*alive; }
  };
  std::atomic<int> alive = 0, ran = 0;
  {
    WorkerPool pool(pool_options(2, 100));
    const std::array<char, 300> large{};
    for (int i = 0; i < 50; ++i) {
      REQUIRE(pool.submit([&, large] { ran += 1 + large[0]; }));
      REQUIRE(pool.submit([&, only_moves = std::make_unique<int>(1)] { ran += *only_moves; }));
      REQUIRE(pool.submit([&, counted = Counted(alive)] { ran += counted.alive != nullptr ? 1 : 0; }));
      const auto copied = [&, counted = Counted(alive)] { ran += counted.alive != nullptr ? 1 : 0; };
      REQUIRE(pool.submit(copied));
    }
    pool.wait_idle();
  }
  REQUIRE(ran == 200);
  REQUIRE(alive == 0);
}

TEST_CASE("a refused job stays with its submitter") {
  PoolGate gate;
  WorkerPool pool(pool_options(1, 0));
  REQUIRE(pool.submit([&] { gate.pass(); }));
  auto owned = std::make_unique<int>(7);
  auto job = [owned = std::move(owned)] { static_cast<void>(*owned); };
  REQUIRE(pool.try_submit(std::move(job)).verdict == Verdict::full);
  gate.open();
  REQUIRE(pool.submit(std::move(job)));  // would crash if it had been moved from
  pool.wait_idle();
  REQUIRE(pool.metrics().failed == 0);
}

/// A closure that owns something, and whose move may throw, because it copies a constant text.
auto with_constant(const std::string text) {
  return [text, owned = std::make_unique<int>(7)] { return text.empty() ? 0 : *owned; };
}

TEST_CASE("a refused job stays with its submitter, also with a throwing move or a future") {
  WorkerPool pool(pool_options(1, 0));
  pool.pause();
  REQUIRE(pool.submit([] {}));
  auto job = with_constant("user-7");
  static_assert(!std::is_nothrow_move_constructible_v<decltype(job)>);
  REQUIRE(pool.try_submit(std::move(job)).verdict == Verdict::full);
  REQUIRE(pool.submit_for(1ms, std::move(job)).verdict == Verdict::full);
  REQUIRE_THROWS_AS(pool.try_async(std::move(job)), Rejected);
  auto small = [owned = std::make_unique<int>(7)] { return *owned; };
  REQUIRE_THROWS_AS(pool.try_async(std::move(small)), Rejected);
  std::vector<decltype(job)> batch;
  batch.push_back(with_constant("user-8"));
  REQUIRE(pool.try_submit_batch(std::span(batch)).verdict == Verdict::full);
  pool.resume();
  pool.wait_idle();
  REQUIRE(pool.async(std::move(job)).get() == 7);  // would crash if one had been moved from
  REQUIRE(pool.async(std::move(small)).get() == 7);
  REQUIRE(pool.async(std::move(batch[0])).get() == 7);
}

TEST_CASE("a job that cannot be moved or copied into the queue leaves the queue in order") {
  struct Throws {
    bool now = true;
    Throws() = default;
    Throws(const Throws& other) : now(other.now) {
      if (now) throw std::runtime_error("no copy");
    }
    void operator()() const {}
  };
  WorkerPool pool(pool_options(1, 2));
  Throws job;
  REQUIRE_THROWS_AS(pool.submit(job), std::runtime_error);
  REQUIRE_THROWS_AS(pool.submit(std::move(job)), std::runtime_error);
  REQUIRE_THROWS_AS(pool.async(std::move(job)), std::runtime_error);
  job.now = false;
  for (int i = 0; i < 10; ++i) REQUIRE(pool.submit(std::move(job)));
  pool.async(job).get();
  pool.wait_idle();
  const auto metrics = pool.metrics();
  REQUIRE(metrics.completed == metrics.submitted);
}

TEST_CASE("a job that is given up is destroyed") {
  auto shared = std::make_shared<int>(1);
  PoolGate gate;
  {
    WorkerPool pool(pool_options(1, 10));
    REQUIRE(pool.submit([&] { gate.pass(); }));
    REQUIRE(gate.holds(1));
    for (int i = 0; i < 5; ++i) REQUIRE(pool.submit([shared] {}));
    auto future = pool.async([shared] { return *shared; });
    REQUIRE(pool.stop(0ms, 0ms).abandoned.size() == 6);
    REQUIRE_THROWS_AS(future.get(), std::future_error);
    gate.open();
  }
  REQUIRE(shared.use_count() == 1);
}

TEST_CASE("a batch is accepted from its front as far as there is room") {
  PoolGate gate;
  WorkerPool pool(pool_options(1, 10));
  std::atomic<int> ran = 0;
  REQUIRE(pool.submit([&] { gate.pass(); }));
  REQUIRE(gate.holds(1));
  const auto one = [&ran] { ++ran; };
  std::vector<std::remove_const_t<decltype(one)>> jobs(30, one);
  const auto answer = pool.try_submit_batch(std::span(jobs));
  REQUIRE(answer.verdict == Verdict::full);
  REQUIRE(answer.accepted == 10);
  REQUIRE(answer.text() == "job queue full (10/10)");
  gate.open();
  const auto rest = pool.submit_batch(std::span(jobs).subspan(10));
  REQUIRE(rest);
  REQUIRE(rest.accepted == 20);
  pool.wait_idle();
  REQUIRE(ran == 30);
}

TEST_CASE("a batch of large jobs is run, and a batch is accepted up to its first empty job") {
  WorkerPool pool(pool_options(2, 4));
  std::atomic<int> ran = 0;
  const std::array<char, 100> large{};
  const auto one = [&ran, large] { ran += 1 + large[0]; };
  std::vector<std::remove_const_t<decltype(one)>> jobs(20, one);
  REQUIRE(pool.submit_batch(std::span(jobs)).accepted == 20);
  std::vector<std::function<void()>> functions(3, one);
  functions[1] = nullptr;
  const auto answer = pool.submit_batch(std::span(functions));
  REQUIRE(answer.verdict == Verdict::no_job);
  REQUIRE(answer.accepted == 1);
  pool.wait_idle();
  REQUIRE(ran == 21);
}

TEST_CASE("a submission with a deadline is refused when the queue stays full until the deadline") {
  PoolGate gate;
  WorkerPool pool(pool_options(1, 1));
  for (int i = 0; i < 2; ++i) REQUIRE(pool.submit([&] { gate.pass(); }));
  REQUIRE(pool.submit_for(5ms, [] {}).verdict == Verdict::full);
  REQUIRE(pool.submit_until(WorkerPool::Clock::now() - 1s, [] {}).verdict == Verdict::full);
  std::thread opener([&] { gate.open(); });
  REQUIRE(pool.submit_for(1min, [] {}));
  opener.join();
}

TEST_CASE("a blocked submission is accepted when a job ends, and refused when the pool is closed") {
  PoolGate first, rest;
  WorkerPool pool(pool_options(1, 1));
  REQUIRE(pool.submit([&] { first.pass(); }));
  REQUIRE(pool.submit([&] { rest.pass(); }));
  std::atomic<int> answered = 0;
  Submission accepted, refused;
  std::thread submitter([&] {
    accepted = pool.submit([] {});
    ++answered;
    refused = pool.submit([] {});
    ++answered;
  });
  first.open();
  REQUIRE(eventually([&] { return answered == 1; }));
  pool.close();
  submitter.join();
  REQUIRE(accepted);
  REQUIRE(refused.verdict == Verdict::closed);
  rest.open();
}

TEST_CASE("results and exceptions come through futures and submit_and_wait") {
  WorkerPool pool(pool_options(2, 10));
  REQUIRE(pool.async([] { return 6 * 7; }).get() == 42);
  REQUIRE(pool.submit_and_wait([] { return std::string("done"); }) == "done");
  REQUIRE(pool.submit_and_wait([](std::stop_token stop) { return stop.stop_requested(); }) == false);
  REQUIRE_THROWS_AS(pool.submit_and_wait([] { throw std::out_of_range("x"); }), std::out_of_range);
  pool.close();
  try {
    pool.async([] {});
    FAIL("a closed pool took a job");
  } catch (const Rejected& rejected) {
    REQUIRE(rejected.submission().verdict == Verdict::closed);
    REQUIRE(std::string(rejected.what()) == "pool closed; not accepting new jobs");
  }
}

TEST_CASE("a full queue refuses a job with a continuation at once, and both stay with the submitter") {
  WorkerPool pool(pool_options(1, 0));
  pool.pause();
  REQUIRE(pool.submit([] {}));
  std::atomic<int> called = 0, got = 0;
  auto job = [owned = std::make_unique<int>(7)] { return *owned; };
  auto then = [&, owned = std::make_unique<int>(1)](std::future<int> result) {
    called += *owned;
    got = result.get();
  };
  REQUIRE(pool.try_async(std::move(job), std::move(then)).verdict == Verdict::full);
  REQUIRE(called == 0);
  pool.resume();
  pool.wait_idle();
  REQUIRE(pool.try_async(std::move(job), std::move(then)));  // would crash if one had been moved from
  pool.wait_idle();
  REQUIRE(called == 1);
  REQUIRE(got == 7);
}

TEST_CASE("a continuation gets the result, the exception or the broken promise exactly once") {
  std::atomic<int> results = 0, exceptions = 0, broken = 0, errors = 0;
  const auto then = [&](std::future<int> result) {
    try {
      results += result.get();
    } catch (const std::out_of_range&) {
      ++exceptions;
    } catch (const std::future_error& error) {
      broken += error.code() == std::future_errc::broken_promise;
    }
  };
  PoolGate gate;
  auto options = pool_options(1, 10);
  options.on_error = [&](const JobError&) { ++errors; };
  WorkerPool pool(options);
  REQUIRE(pool.try_async([] { return 1; }, then));
  REQUIRE(pool.try_async([]() -> int { throw std::out_of_range("x"); }, then));
  REQUIRE(pool.try_async([](std::stop_token stop) { return stop.stop_requested() ? 0 : 2; }, then));
  REQUIRE(
      pool.try_async([] {}, [](std::future<void> result) { result.get(), throw std::runtime_error("y"); }));
  pool.wait_idle();
  REQUIRE(results == 3);
  REQUIRE(exceptions == 1);
  REQUIRE(errors == 1);
  JobOptions late;
  late.begin_by = WorkerPool::Clock::now() - 1s;
  REQUIRE(pool.try_async(
      late, [] { return 100; }, then));
  pool.wait_idle();
  REQUIRE(broken == 1);
  REQUIRE(pool.submit([&] { gate.pass(); }));
  REQUIRE(gate.holds(1));
  std::array<char, 100> large{1};
  REQUIRE(pool.try_async([] { return 100; }, then));
  REQUIRE(pool.try_async([large] { return static_cast<int>(large.size()); }, then));
  REQUIRE(pool.stop(0ms, 0ms).abandoned.size() == 2);
  REQUIRE(broken == 3);
  REQUIRE(results == 3);
  REQUIRE(pool.try_async([] { return 1; }, then).verdict == Verdict::closed);
  gate.open();
}

/// A coroutine that runs until its first await, and then on the pool's thread.
struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

/// As docs/pool-library.md shows it.
template <class Job>
struct Awaited {
  WorkerPool& pool;
  Job job;
  std::future<std::invoke_result_t<Job&>> result{};

  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    const auto answer = pool.try_async(job, [this, waiting](auto ready) {
      result = std::move(ready);
      waiting.resume();
    });
    if (!answer) throw Rejected(answer);
  }
  auto await_resume() { return result.get(); }
};
template <class Job>
Awaited(WorkerPool&, Job) -> Awaited<Job>;

Detached sum_of_squares(WorkerPool& pool, std::atomic<int>& sum) {
  int mine = 0;
  for (int i = 1; i <= 3; ++i) mine += co_await Awaited{pool, [i] { return i * i; }};
  sum += mine;
}

TEST_CASE("a thousand coroutines await jobs of one worker without a waiting thread") {
  WorkerPool pool(pool_options(1, 2000));
  std::atomic<int> sum = 0;
  for (int i = 0; i < 1000; ++i) sum_of_squares(pool, sum);
  pool.wait_idle();
  REQUIRE(sum == 14000);
  REQUIRE(pool.metrics().threads == 1);
}

TEST_CASE("a job that throws is counted and reported, and its worker goes on") {
  std::vector<std::string> errors;
  auto options = pool_options(1, 10);
  options.on_error = [&](const JobError& error) {
    errors.push_back(std::to_string(error.id) + " " + std::string(error.name) + ": " + error.what);
    if (errors.size() == 2) throw std::runtime_error("of on_error itself");
  };
  WorkerPool pool(options);
  JobOptions named;
  named.name = "resize";
  REQUIRE(pool.submit([] {}));
  REQUIRE(pool.submit(named, [] { throw std::runtime_error("no such image"); }));
  REQUIRE(pool.submit([] { throw 7; }));
  REQUIRE(pool.submit([] {}));
  pool.wait_idle();
  REQUIRE(errors == std::vector<std::string>{"1 resize: no such image",
                                             "2 : an exception that is not a std::exception"});
  const auto metrics = pool.metrics();
  REQUIRE(metrics.failed == 2);
  REQUIRE(metrics.completed == 2);
  REQUIRE(metrics.threads == 1);
}

TEST_CASE("the stop of a job is requested at its timeout") {
  WorkerPool pool(pool_options(2, 10));
  JobOptions short_one;
  short_one.timeout = 1ms;
  std::atomic<bool> stopped = false;
  REQUIRE(pool.submit(
      short_one, [&](std::stop_token stop) { stopped = eventually([&] { return stop.stop_requested(); }); }));
  pool.wait_idle();
  REQUIRE(stopped);
  REQUIRE(pool.metrics().timed_out == 1);
  REQUIRE(pool.metrics().completed == 1);
}

TEST_CASE("a negative timeout exempts a job from the pool's timeout") {
  auto options = pool_options(2, 10);
  options.job_timeout = 1ms;
  WorkerPool pool(options);
  JobOptions without_limit;
  without_limit.timeout = -1ns;
  std::atomic<bool> stopped = false, other_stopped = false;
  REQUIRE(pool.submit(without_limit, [&](std::stop_token stop) {
    if (!eventually([&] { return other_stopped.load(); })) return;
    stopped = stop.stop_requested();
  }));
  REQUIRE(pool.submit(
      [&](std::stop_token stop) { other_stopped = eventually([&] { return stop.stop_requested(); }); }));
  pool.wait_idle();
  REQUIRE(other_stopped);
  REQUIRE_FALSE(stopped);
  REQUIRE(pool.metrics().timed_out == 1);
}

TEST_CASE("a pool whose workers all run jobs past their timeout is not healthy") {
  PoolGate gate;
  auto options = pool_options(2, 10);
  options.job_timeout = 1ms;
  WorkerPool pool(options);
  for (int i = 0; i < 2; ++i) REQUIRE(pool.submit([&] { gate.pass(); }));
  REQUIRE(eventually([&] { return !pool.health().healthy; }));
  REQUIRE(pool.health().reason == "pool test: all 2 workers run jobs that are past their timeout");
  gate.open();
  pool.wait_idle();
  REQUIRE(pool.health().healthy);
}

TEST_CASE("a job that has not begun by its deadline is dropped and counted") {
  PoolGate gate;
  WorkerPool pool(pool_options(1, 10));
  REQUIRE(pool.submit([&] { gate.pass(); }));
  JobOptions late, early;
  late.begin_by = WorkerPool::Clock::now() - 1ms;
  early.begin_by = WorkerPool::Clock::now() + 1h;
  std::atomic<int> ran = 0;
  REQUIRE(pool.submit(late, [&] { ran += 10; }));
  REQUIRE(pool.submit(early, [&] { ran += 1; }));
  gate.open();
  pool.wait_idle();
  REQUIRE(ran == 1);
  REQUIRE(pool.metrics().expired == 1);
  REQUIRE(pool.metrics().completed == 2);
}

TEST_CASE("jobs of a key run in their order, and jobs without a key on each worker in turn") {
  PoolGate gate;
  auto options = pool_options(4, 40000);
  options.distribution = Distribution::by_key;
  WorkerPool pool(options);
  constexpr int keys = 16, jobs = 500;
  std::vector<std::vector<int>> ran(keys);
  std::vector<std::string> names(keys);
  for (int key = 0; key < keys; ++key) names[key] = "user-" + std::to_string(key);
  for (int i = 0; i < jobs; ++i)
    for (int key = 0; key < keys; ++key) {
      JobOptions of_key;
      of_key.key = names[key];
      REQUIRE(pool.submit(of_key, [&ran, key, i] { ran[key].push_back(i); }));
    }
  pool.wait_idle();
  for (const auto& one : ran) {
    REQUIRE(one.size() == jobs);
    REQUIRE(std::is_sorted(one.begin(), one.end()));
  }
  for (int i = 0; i < 4; ++i)
    REQUIRE(pool.submit([&] { gate.pass(); }));  // without a key: each worker in turn
  REQUIRE(gate.holds(4));
  gate.open();
}

TEST_CASE("round robin gives each worker its turn") {
  PoolGate gate;
  auto options = pool_options(3, 6);
  options.distribution = Distribution::round_robin;
  WorkerPool pool(options);
  for (int i = 0; i < 3; ++i) REQUIRE(pool.try_submit([&] { gate.pass(); }));
  REQUIRE(gate.holds(3));
  std::vector<std::thread::id> threads(6);
  for (int i = 0; i < 6; ++i) REQUIRE(pool.try_submit([&, i] { threads[i] = std::this_thread::get_id(); }));
  REQUIRE(pool.try_submit([] {}).text() == "job queue full (2/2)");
  gate.open();
  pool.wait_idle();
  for (int i = 0; i < 3; ++i) REQUIRE(threads[i] == threads[i + 3]);
  REQUIRE(threads[0] != threads[1]);
  REQUIRE(threads[1] != threads[2]);
}

TEST_CASE("each thread of a pool has its own name, in all distributions") {
  for (const auto distribution : {Distribution::shared, Distribution::round_robin}) {
    PoolGate gate;
    auto options = pool_options(3, 10);
    options.distribution = distribution;
    WorkerPool pool(options);
    std::array<std::array<char, 16>, 3> names{};
    for (auto& name : names)
      REQUIRE(pool.submit([&] {
        ::pthread_getname_np(::pthread_self(), name.data(), name.size());
        gate.pass();
      }));
    REQUIRE(gate.holds(3));
    std::set<std::string> different;
    for (const auto& name : names) different.insert(name.data());
    REQUIRE(different == std::set<std::string>{"test-0", "test-1", "test-2"});
    gate.open();
    pool.wait_idle();
  }
}

}  // namespace
}  // namespace laneway
