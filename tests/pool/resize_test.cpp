// Other limits while jobs are at work.
#include "support.h"

using namespace laneway;
using namespace laneway::pool;

TEST_CASE("after a change of the limits the new N + Q jobs are accepted, also with all workers busy") {
  struct Change {
    std::uint32_t workers, queue, new_workers, new_queue;
  };
  const auto change =
      GENERATE(Change{2, 3, 5, 4}, Change{1, 0, 70, 0}, Change{4, 4, 4, 40}, Change{8, 9, 2, 3},
               Change{6, 0, 1, 0}, Change{3, 20, 3, 0}, Change{2, 30, 10, 1});
  const auto total = change.new_workers + change.new_queue;
  Gate first;
  Gate second;
  Jobs old(change.workers + change.queue);
  Jobs jobs(total + 5);
  auto given = limits(change.workers, change.queue);
  given.most_per_claim = 1;
  TestPool pool(given, [&](const Claim& claim) {
    (claim.range.batch == &old ? first : second).pass();
    run_jobs(claim);
  });
  REQUIRE(pool->try_submit(old).taken == old.size);
  CHECK(first.holds(static_cast<int>(change.workers)));
  pool->resize(change.new_workers, change.new_queue);
  CHECK(pool->limits().workers == change.new_workers);
  CHECK(pool->limits().queue == change.new_queue);
  // What is in counts; nothing of it is let go.
  const auto room = total > old.size ? total - old.size : 0;
  CHECK(pool->try_submit(jobs).taken == room);
  const auto now = pool->snapshot();  // one: a worker may take a job between two
  CHECK(now.queued + now.in_flight == old.size + room);
  first.open();
  CHECK(eventually([&] { return old.all_ran(); }));
  std::uint32_t begin = room;
  CHECK(eventually([&] {
    begin += pool->try_submit(jobs, begin).taken;
    return begin == total;
  }));
  CHECK(eventually([&] {
    pool->tick(SteadyClock::now());  // jobs were fast so far: waking somebody for these did not seem worth it
    return pool->snapshot().in_flight == change.new_workers;
  }));
  CHECK(second.holds(static_cast<int>(change.new_workers)));
  CHECK(pool->try_submit(jobs, begin).admission == Admission::full);
  CHECK(pool->snapshot().in_flight == change.new_workers);
  CHECK(pool->snapshot().queued == change.new_queue);
  second.open();
  REQUIRE(pool->join(Deadline::in(patience)));
  for (std::uint32_t job = 0; job < jobs.size; ++job) CHECK(jobs.ran[job] == (job < total ? 1 : 0));
}

TEST_CASE("more workers take queued jobs at once") {
  Gate gate;
  auto jobs = single_jobs(6);
  TestPool pool(limits(1, 5), [&](const Claim& claim) {
    gate.pass();
    run_jobs(claim);
  });
  for (auto& job : jobs) REQUIRE(pool->try_submit(job).taken == 1);
  CHECK(gate.holds(1));
  pool->resize(6, 5);
  CHECK(gate.holds(6));
  gate.open();
}

TEST_CASE("excess threads end although jobs wait, and needed threads never end") {
  auto jobs = single_jobs(400);
  Mutex mutex;  // of both together: a worker that is late must not tell what was before
  int at_work = 0;
  int most = 0;
  TestPool pool(limits(8, 400), [&](const Claim& claim) {
    {
      MutexLock lock(mutex);
      most = std::max(most, ++at_work);
    }
    std::this_thread::sleep_for(microseconds(200));
    run_jobs(claim);
    MutexLock lock(mutex);
    --at_work;
  });
  std::size_t next = 0;
  const auto feed = [&] {
    if (pool->drained()) {
      CHECK(next <= jobs.size());
      next = 0;
    }
    while (next < jobs.size() && pool->try_submit(jobs[next]).taken == 1) ++next;
  };
  CHECK(eventually([&] {
    feed();
    return pool->snapshot().threads == 8;
  }));
  pool->resize(2, 400);
  CHECK(eventually([&] {
    feed();
    return pool->snapshot().threads == 2;
  }));
  {
    MutexLock lock(mutex);
    most = 0;
  }
  REQUIRE(eventually([&] { return pool->drained(); }));
  {
    MutexLock lock(mutex);
    CHECK(most <= 2);
  }
  pool->resize(8, 400);
  CHECK(eventually([&] {
    feed();
    return pool->snapshot().threads == 8;
  }));
  REQUIRE(pool->join(Deadline::in(patience)));
}

TEST_CASE("claims that are answered later keep to the new limit, with and without threads of the pool") {
  for (const bool asynchronous : {false, true}) {
    Mutex mutex;
    std::vector<Claim> claims;
    const auto taken = [&] {
      MutexLock lock(mutex);
      return claims.size();
    };
    auto jobs = single_jobs(20);
    auto given = limits(4, 16);
    given.asynchronous = asynchronous;
    TestPool pool(
        given,
        [&](const Claim& claim) {
          run_jobs(claim);
          MutexLock lock(mutex);
          claims.push_back(claim);
        },
        TestPool::Finish::later);
    const auto finish_one = [&] {
      Claim claim;
      {
        MutexLock lock(mutex);
        claim = claims.front();
        claims.erase(claims.begin());
      }
      pool->finish(claim);
    };
    for (auto& job : jobs) REQUIRE(pool->try_submit(job).taken == 1);
    CHECK(eventually([&] { return taken() == 4; }));
    pool->resize(2, 16);
    finish_one();
    finish_one();
    CHECK(taken() == 2);
    CHECK(pool->snapshot().in_flight == 2);
    finish_one();
    CHECK(eventually([&] { return taken() == 2; }));
    pool->resize(7, 16);
    CHECK(eventually([&] { return taken() == 7; }));
    while (!pool->drained()) {
      if (taken() > 0) finish_one();
    }
    REQUIRE(pool->join(Deadline::in(patience)));
    for (const auto& job : jobs) CHECK(job.all_ran());
  }
}

TEST_CASE("a stuck job is replaced under the current limits") {
  Gate gate;
  Jobs stuck(2);
  Jobs next(1);
  auto given = limits(2, 8);
  given.job_deadline = milliseconds(1);
  given.stuck_after = milliseconds(1);
  TestPool pool(given, [&](const Claim& claim) {
    if (claim.range.batch == &stuck) gate.pass();
    run_jobs(claim);
  });
  pool->try_submit(stuck);
  CHECK(gate.holds(2));
  pool->resize(1, 8);
  auto now = SteadyClock::now();
  std::size_t found = 0;
  CHECK(eventually([&] { return (found += pool->tick(now += seconds(1)).size()) == 2; }));
  // One is in the place of a stuck one, and one worker there may be; two are at work: nothing more begins.
  pool->try_submit(next);
  CHECK(pool->snapshot().queued == 1);
  pool->resize(2, 8);
  CHECK(eventually([&] { return next.all_ran(); }));
  gate.open();
  REQUIRE(pool->join(Deadline::in(patience)));
  CHECK(stuck.all_ran());
}

TEST_CASE("repeated changes of the limits lose no jobs and run none twice") {
  std::vector<Jobs> batches;
  for (int i = 0; i < 300; ++i) batches.emplace_back(1 + i % 50);
  TestPool pool(limits(1, 4), run_jobs);
  for (std::uint32_t i = 0; i < batches.size(); ++i) {
    pool->resize(1 + i * 7 % 9, i * 5 % 33);
    for (std::uint32_t begin = 0; begin < batches[i].size;)
      begin += pool->try_submit(batches[i], begin).taken;
  }
  REQUIRE(pool->join(Deadline::in(patience)));
  CHECK(pool->drained());
  for (const auto& batch : batches) CHECK(batch.all_ran());
}
