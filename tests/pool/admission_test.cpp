#include <deque>

#include "support.h"

using namespace laneway;
using namespace laneway::pool;

TEST_CASE("N busy workers and a queue of Q accept exactly N + Q jobs, and the next is refused as full") {
  const auto [workers, queue] =
      GENERATE(table<std::uint32_t, std::uint32_t>({{1, 0}, {1, 1}, {4, 3}, {8, 256}, {64, 10}}));
  Gate gate;
  Jobs jobs(workers + queue + 5);
  TestPool pool(limits(workers, queue), [&](const Claim& claim) {
    gate.pass();
    run_jobs(claim);
  });
  const auto submitted = pool->try_submit(jobs);
  CHECK(submitted.taken == workers + queue);
  CHECK(submitted.admission == Admission::full);
  CHECK(gate.holds(static_cast<int>(workers)));
  CHECK(pool->snapshot().in_flight == workers);
  CHECK(pool->snapshot().queued == queue);
  const auto next = pool->try_submit(jobs, submitted.taken);
  CHECK(next.taken == 0);
  CHECK(next.admission == Admission::full);
  gate.open();
  REQUIRE(pool->join(Deadline::in(patience)));
  for (std::uint32_t job = 0; job < jobs.size; ++job) CHECK(jobs.ran[job] == (job < workers + queue ? 1 : 0));
}

TEST_CASE("jobs that are claimed by the hundred and not begun count as admitted") {
  Gate gate;
  std::atomic<bool> hold{false};
  TestPool pool(limits(2, 6), [&](const Claim& claim) {
    if (hold) gate.pass();
    run_jobs(claim);
  });
  pool.warm_up();
  hold = true;
  Jobs jobs(100);
  CHECK(pool->try_submit(jobs).taken == 8);
  CHECK(eventually([&] { return pool->snapshot().in_flight > 0; }));
  CHECK(pool->try_submit(jobs, 8).taken == 0);
  gate.open();
  REQUIRE(pool->join(Deadline::in(patience)));
}

TEST_CASE("rejected jobs can be offered again when there is room") {
  Gate gate;
  std::atomic<int> notified{0};
  Jobs jobs(20);
  TestPool pool(
      limits(2, 3),
      [&](const Claim& claim) {
        gate.pass();
        run_jobs(claim);
      },
      TestPool::Finish::on_return, [&] { ++notified; });
  auto begin = pool->try_submit(jobs).taken;
  CHECK(begin == 5);
  gate.open();
  while (begin < jobs.size) {
    const int before = notified;
    pool->notify_at(4);
    REQUIRE(eventually([&] { return notified > before; }));
    const auto submitted = pool->try_submit(jobs, begin);
    REQUIRE(submitted.taken > 0);
    begin += submitted.taken;
  }
  REQUIRE(pool->join(Deadline::in(patience)));
  CHECK(jobs.all_ran());
}

TEST_CASE("a batch without jobs is accepted and runs nothing") {
  TestPool pool(limits(1, 1), [](const Claim&) { FAIL("nothing to run"); });
  Jobs none(0);
  CHECK(pool->try_submit(none).admission == Admission::accepted);
  Jobs one(1);
  CHECK(pool->try_submit(one, 1).admission == Admission::accepted);
  CHECK(pool->drained());
  CHECK(pool->snapshot().threads == 0);
}

TEST_CASE("a sequential batch is accepted whole, and takes the room of one job") {
  Gate gate;
  TestPool pool(limits(2, 3), [&](const Claim& claim) {
    gate.pass();
    run_jobs(claim);
  });
  Jobs large[4] = {Jobs(50, true), Jobs(50, true), Jobs(50, true), Jobs(50, true)};
  for (Jobs& jobs : large) CHECK(pool->try_submit(jobs).taken == 50);
  CHECK(gate.holds(2));
  CHECK(pool->snapshot().in_flight == 100);
  CHECK(pool->snapshot().queued == 100);
  Jobs some(2);
  CHECK(pool->try_submit(some).taken == 1);
  Jobs small(1, true);
  CHECK(pool->try_submit(small).admission == Admission::full);
  CHECK(pool->withdraw(75).size() == 2);  // the single one, and half of the last
  CHECK(pool->try_submit(small).taken == 1);
  CHECK(pool->try_submit(some, 1).taken == 0);
  gate.open();
  REQUIRE(pool->join(Deadline::in(patience)));
  for (int i = 0; i < 3; ++i) CHECK(large[i].all_ran());
  CHECK(large[3].ran[24] == 1);
  CHECK(large[3].ran[25] == 0);
  CHECK(small.all_ran());
}

TEST_CASE("a pool that refused a batch does not call for room before there is room") {
  const bool sequential = GENERATE(false, true);
  Gate gate;
  std::atomic<int> calls{0};
  TestPool pool(
      limits(1, 4), [&](const Claim&) { gate.pass(); }, TestPool::Finish::on_return, [&] { ++calls; });
  std::deque<Jobs> taken;
  do {
    taken.emplace_back(3, sequential);
  } while (pool->try_submit(taken.back()).admission == Admission::accepted);
  pool->notify_at(3);
  CHECK(calls == 0);
  gate.open();
  REQUIRE(pool->join(Deadline::in(patience)));
  CHECK(calls == 1);
}

TEST_CASE("a closed pool refuses as closed and still runs its accepted jobs") {
  Gate gate;
  Jobs jobs(3);
  TestPool pool(limits(1, 8), [&](const Claim& claim) {
    gate.pass();
    run_jobs(claim);
  });
  CHECK(pool->try_submit(jobs).taken == 3);
  pool->close();
  pool->close();
  Jobs late(1);
  CHECK(pool->try_submit(late).admission == Admission::closed);
  CHECK(pool->try_submit(late).taken == 0);
  gate.open();
  REQUIRE(pool->join(Deadline::in(patience)));
  CHECK(jobs.all_ran());
  CHECK(late.all_ran(0));
}

TEST_CASE("the call for room comes once, when few enough jobs are unfinished") {
  Gate gate;
  Gate last_gate;
  std::atomic<int> calls{0};
  std::atomic<int> begun{0};
  std::vector<Jobs> jobs = single_jobs(3);
  TestPool pool(
      limits(1, 8),
      [&](const Claim& claim) {
        (++begun < 3 ? gate : last_gate).pass();
        run_jobs(claim);
      },
      TestPool::Finish::on_return, [&] { ++calls; });
  for (Jobs& job : jobs) CHECK(pool->try_submit(job).taken == 1);
  pool->notify_at(0);
  CHECK(calls == 0);
  pool->notify_at(1);  // replaces the first
  CHECK(calls == 0);
  gate.open();
  CHECK(last_gate.holds(1));
  CHECK(calls == 1);
  last_gate.open();
  REQUIRE(eventually([&] { return pool->drained(); }));
  CHECK(calls == 1);
  pool->notify_at(0);
  CHECK(calls == 2);
  REQUIRE(pool->join(Deadline::in(patience)));
  CHECK(calls == 2);
}

TEST_CASE("a call for room that is asked for while jobs finish is never missed and never doubled") {
  std::atomic<int> calls{0};
  TestPool pool(limits(2, 8), run_jobs, TestPool::Finish::on_return, [&] { ++calls; });
  Jobs jobs(4);
  constexpr int rounds = 2000;
  for (int round = 1; round <= rounds; ++round) {
    pool->try_submit(jobs);
    pool->notify_at(static_cast<std::uint32_t>(round % 4));
    REQUIRE(eventually([&] { return calls == round; }));
  }
  REQUIRE(pool->join(Deadline::in(patience)));
  CHECK(calls == rounds);
}
