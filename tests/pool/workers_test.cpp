#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>
#include <set>

#include "support.h"

using namespace laneway;
using namespace laneway::pool;

namespace laneway::pool {

std::atomic<bool> refuse_threads{false};

}  // namespace laneway::pool

// Stands before the system's, so that a test can be refused a thread.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                              void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return refuse_threads ? EAGAIN : create(thread, attributes, routine, argument);
}

TEST_CASE("threads start on demand, and never more than the workers") {
  Gate gate;
  TestPool pool(limits(3, 100), [&](const Claim& claim) {
    gate.pass();
    run_jobs(claim);
  });
  CHECK(pool->snapshot().threads == 0);
  Jobs first(1);
  pool->try_submit(first);
  CHECK(gate.holds(1));
  CHECK(pool->snapshot().threads == 1);
  Jobs more(50);
  pool->try_submit(more);
  CHECK(gate.holds(3));
  CHECK(pool->snapshot().threads == 3);
  CHECK(pool->snapshot().active == 3);
  gate.open();
  REQUIRE(pool->join(Deadline::in(patience)));
  CHECK(pool->snapshot().threads == 0);
  CHECK(more.all_ran());
}

TEST_CASE("a job goes to an idle thread first, then to a new one, then into the queue") {
  Gate gate;
  std::atomic<bool> hold{false};
  TestPool pool(limits(2, 10), [&](const Claim& claim) {
    if (hold) gate.pass();
    run_jobs(claim);
  });
  std::vector<Jobs> jobs = single_jobs(4);
  CHECK(pool->try_submit(jobs[0]).taken == 1);
  REQUIRE(eventually([&] { return pool->drained() && pool->snapshot().active == 0; }));
  CHECK(pool->snapshot().threads == 1);
  hold = true;
  CHECK(pool->try_submit(jobs[1]).taken == 1);  // the idle thread takes it
  REQUIRE(gate.holds(1));
  CHECK(pool->snapshot().threads == 1);
  CHECK(pool->try_submit(jobs[2]).taken == 1);  // no thread is idle: a new one
  REQUIRE(eventually([&] {
    pool->tick(SteadyClock::now());  // the loop's tick, because the first job took next to nothing
    return pool->snapshot().threads == 2;
  }));
  REQUIRE(gate.holds(2));
  CHECK(pool->snapshot().threads == 2);
  CHECK(pool->snapshot().queued == 0);
  CHECK(pool->try_submit(jobs[3]).taken == 1);  // there may be no more
  CHECK(pool->snapshot().threads == 2);
  CHECK(pool->snapshot().queued == 1);
  gate.open();
  REQUIRE(pool->join(Deadline::in(patience)));
  for (const Jobs& job : jobs) CHECK(job.all_ran());
}

TEST_CASE("idle threads end, and new ones start for new jobs") {
  auto with_short_idle = limits(4, 100);
  with_short_idle.idle = microseconds(100);
  TestPool pool(with_short_idle, run_jobs);
  for (int round = 1; round <= 20; ++round) {
    Jobs jobs(16);
    CHECK(pool->try_submit(jobs).taken == 16);
    REQUIRE(eventually([&] { return pool->snapshot().threads == 0; }));
    CHECK(jobs.all_ran());
  }
  REQUIRE(pool->join(Deadline::in(patience)));
}

TEST_CASE("a thread stays while a job waits for a slot") {
  auto with_short_idle = limits(2, 100);
  with_short_idle.idle = microseconds(10);
  Mutex mutex;
  std::vector<Claim> held;
  std::atomic<int> run{0};
  TestPool pool(
      with_short_idle,
      [&](const Claim& claim) {
        MutexLock lock(mutex);
        held.push_back(claim);
        ++run;
      },
      TestPool::Finish::later);
  std::vector<Jobs> jobs = single_jobs(4);
  for (Jobs& job : jobs) CHECK(pool->try_submit(job).taken == 1);
  REQUIRE(eventually([&] { return run == 2; }));
  REQUIRE(eventually([&] { return pool->snapshot().active == 0; }));
  std::this_thread::sleep_for(milliseconds(2));  // many times `idle`: who may leave has left
  CHECK(pool->snapshot().threads > 0);
  refuse_threads = true;
  for (int finished = 0; finished < 4; ++finished) {
    REQUIRE(eventually([&] { return run == std::min(finished + 2, 4) && pool->snapshot().active == 0; }));
    Claim claim;
    {
      MutexLock lock(mutex);
      claim = held.back();
      held.pop_back();
    }
    pool->finish(claim);
  }
  refuse_threads = false;
  CHECK(pool->snapshot().start_failures == 0);
  REQUIRE(pool->join(Deadline::in(patience)));
}

TEST_CASE("the worker that parked last is woken first") {
  Gate gate;
  std::atomic<bool> hold{true};
  Mutex mutex;
  std::set<std::thread::id> ran_on;
  TestPool pool(limits(4, 100), [&](const Claim& claim) {
    if (hold) gate.pass();
    run_jobs(claim);
    MutexLock lock(mutex);
    ran_on.insert(std::this_thread::get_id());
  });
  Jobs first(4);
  pool->try_submit(first);
  REQUIRE(gate.holds(4));
  hold = false;
  gate.open();
  for (int round = 0; round < 50; ++round) {
    REQUIRE(eventually([&] { return pool->drained() && pool->snapshot().active == 0; }));
    if (round == 0) {
      CHECK(ran_on.size() == 4);
      ran_on.clear();
    }
    Jobs one(1);
    pool->try_submit(one);
    REQUIRE(eventually([&] { return pool->drained(); }));
  }
  REQUIRE(pool->join(Deadline::in(patience)));
  CHECK(ran_on.size() == 1);
}

TEST_CASE("jobs behind an unexpectedly hanging job go on after a tick") {
  Gate gate;
  Jobs hanging(1);
  TestPool pool(limits(3, 100), [&](const Claim& claim) {
    if (claim.range.batch == &hanging) gate.pass();
    run_jobs(claim);
  });
  pool.warm_up();
  pool->try_submit(hanging);
  REQUIRE(gate.holds(1));
  Jobs behind(5);
  CHECK(pool->try_submit(behind).taken == 5);
  CHECK(eventually([&] {
    pool->tick(SteadyClock::now());
    return behind.all_ran();
  }));
  gate.open();
  REQUIRE(pool->join(Deadline::in(patience)));
}

TEST_CASE("a tick clears the estimate, so that all workers take part") {
  Gate gate;
  std::atomic<bool> hold{false};
  TestPool pool(limits(4, 100), [&](const Claim& claim) {
    if (hold) gate.pass();
    run_jobs(claim);
  });
  pool.warm_up();
  hold = true;
  Jobs first(1);
  pool->try_submit(first);
  REQUIRE(gate.holds(1));
  Jobs behind(6);
  pool->try_submit(behind);
  pool->tick(SteadyClock::now());
  pool->tick(SteadyClock::now());
  CHECK(gate.holds(4));
  gate.open();
  REQUIRE(pool->join(Deadline::in(patience)));
  CHECK(behind.all_ran());
}

TEST_CASE("without a thread a batch is refused as full, and accepted once there is a thread") {
  std::atomic<int> calls{0};
  TestPool pool(limits(2, 10), run_jobs, TestPool::Finish::on_return, [&] { ++calls; });
  Jobs jobs(3);
  refuse_threads = true;
  const auto refused = pool->try_submit(jobs);
  refuse_threads = false;
  CHECK(refused.taken == 0);
  CHECK(refused.admission == Admission::full);
  CHECK(pool->snapshot().start_failures == 1);
  CHECK(pool->drained());
  pool->notify_at(6);
  CHECK(calls == 0);  // the submitter would ask again at once, in vain
  CHECK(pool->try_submit(jobs).admission == Admission::accepted);
  REQUIRE(pool->join(Deadline::in(patience)));
  CHECK(jobs.all_ran());
}

TEST_CASE("a pool that cannot start more threads uses its existing ones, and tries again after a tick") {
  Gate first_gate;
  Gate second_gate;
  std::atomic<bool> second{false};
  TestPool pool(limits(2, 100), [&](const Claim& claim) {
    (second ? second_gate : first_gate).pass();
    run_jobs(claim);
  });
  Jobs first(1);
  pool->try_submit(first);
  REQUIRE(first_gate.holds(1));
  refuse_threads = true;
  Jobs jobs(10);
  CHECK(pool->try_submit(jobs).taken == 10);
  refuse_threads = false;
  CHECK(pool->snapshot().start_failures == 1);
  first_gate.open();
  REQUIRE(eventually([&] { return pool->drained(); }));
  CHECK(pool->snapshot().threads == 1);
  second = true;
  std::vector<Jobs> more = single_jobs(2);
  pool->tick(SteadyClock::now());
  for (Jobs& job : more) CHECK(pool->try_submit(job).taken == 1);
  CHECK(eventually([&] {
    pool->tick(SteadyClock::now());
    return pool->snapshot().threads == 2;
  }));
  CHECK(second_gate.holds(2));
  second_gate.open();
  REQUIRE(pool->join(Deadline::in(patience)));
  CHECK(jobs.all_ran());
  for (const Jobs& job : more) CHECK(job.all_ran());
}
