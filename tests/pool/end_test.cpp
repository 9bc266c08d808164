#include "pool/worker_slots.h"
#include "support.h"

using namespace laneway;
using namespace laneway::pool;

namespace {

Limits with_deadline(Duration deadline) {
  auto result = limits(1, 100);
  result.job_deadline = deadline;
  return result;
}

}  // namespace

TEST_CASE("withdrawing takes the newest unclaimed jobs, in order of submission, and these never run") {
  Gate gate;
  Jobs first(5);
  Jobs second(4);
  TestPool pool(limits(1, 100), [&](const Claim& claim) {
    gate.pass();
    run_jobs(claim);
  });
  pool->try_submit(first);
  pool->try_submit(second);
  REQUIRE(gate.holds(1));
  const auto withdrawn = pool->withdraw(3);
  REQUIRE(withdrawn.size() == 2);
  CHECK(withdrawn[0].batch == &first);
  CHECK(withdrawn[0].begin == 4);
  CHECK(withdrawn[0].end == 5);
  CHECK(withdrawn[1].batch == &second);
  CHECK(withdrawn[1].begin == 0);
  CHECK(withdrawn[1].end == 4);
  CHECK(pool->withdraw(3).empty());
  CHECK(pool->snapshot().queued == 3);
  gate.open();
  REQUIRE(pool->join(Deadline::in(patience)));
  for (int job = 0; job < 4; ++job) CHECK(first.ran[job] == 1);
  CHECK(first.ran[4] == 0);
  CHECK(second.all_ran(0));
}

TEST_CASE("withdrawing makes room: the pool accepts more, and a waiting submitter is called") {
  Gate gate;
  std::atomic<int> calls{0};
  TestPool pool(
      limits(1, 4), [&](const Claim&) { gate.pass(); }, TestPool::Finish::on_return, [&] { ++calls; });
  Jobs jobs(10);
  CHECK(pool->try_submit(jobs).taken == 5);
  REQUIRE(gate.holds(1));
  pool->notify_at(1);
  CHECK(calls == 0);
  CHECK(pool->withdraw(0).size() == 1);
  CHECK(calls == 1);
  CHECK(pool->try_submit(jobs).taken == 4);
  gate.open();
  REQUIRE(pool->join(Deadline::in(patience)));
}

TEST_CASE("cancelling stops running jobs and later jobs") {
  std::atomic<int> at_work{0};
  std::atomic<int> stopped{0};
  TestPool pool(limits(2, 10), [&](const Claim& claim) {
    ++at_work;
    if (claim.stop_token(claim.range.begin).wait_until(SteadyClock::now() + patience)) ++stopped;
  });
  Jobs jobs(6);
  CHECK(pool->try_submit(jobs).taken == 6);
  REQUIRE(eventually([&] { return at_work == 2; }));
  CHECK(stopped == 0);
  pool->cancel();
  REQUIRE(pool->join(Deadline::in(patience)));
  CHECK(stopped == at_work);
}

TEST_CASE("unstarted jobs of a claim are recalled when it lasts, on request, and on cancellation") {
  const auto how = GENERATE(0, 1, 2);
  Gate gates[2];
  std::atomic<int> begun{0};
  std::vector<bool> wanted;
  TestPool pool(limits(1, 10), [&](const Claim& claim) {
    wanted.push_back(claim.wanted_back());
    gates[begun++].pass();
    wanted.push_back(claim.wanted_back());
  });
  Jobs jobs[2] = {Jobs(2, true), Jobs(2, true)};
  for (Jobs& two : jobs) pool->try_submit(two);
  REQUIRE(gates[0].holds(1));
  pool->tick(SteadyClock::now() - seconds(1));
  if (how == 0) pool->tick(SteadyClock::now() + seconds(1));
  if (how == 1) pool->want_back();
  if (how == 2) pool->cancel();
  gates[0].open();
  REQUIRE(gates[1].holds(1));
  gates[1].open();
  REQUIRE(pool->join(Deadline::in(patience)));
  CHECK(wanted == std::vector<bool>{false, true, false, false});
}

TEST_CASE("the jobs of an overdue claim leave it, except the running one, and their places are free") {
  const bool one_by_one = GENERATE(true, false);
  auto one_claim = limits(1, 9);
  one_claim.whole_claims = true;
  Gate gate;
  std::atomic<int> begun{0};
  TestPool pool(one_claim, [&](const Claim& claim) {
    for (std::uint32_t job = 0; job < claim.range.count(); ++job) {
      if (one_by_one && !claim.slot->begin(claim.first_ticket + job, claim.first_ticket)) return;
      if (!one_by_one) claim.slot->progress(claim.first_ticket + claim.range.count() - 1);
      ++begun;
      if (job == 2) gate.pass();
    }
  });
  Jobs jobs(10);
  CHECK(pool->try_submit(jobs).taken == 10);
  REQUIRE(gate.holds(1));
  const auto running = pool->in_flight();
  REQUIRE(running.size() == 1);
  CHECK(running[0].begin == (one_by_one ? 2 : 0));
  CHECK(running[0].end == (one_by_one ? 3 : 10));
  CHECK(pool->overdue().empty());
  pool->tick(SteadyClock::now() + seconds(1));
  const auto overdue = pool->overdue();
  REQUIRE(overdue.size() == 1);
  CHECK(overdue[0].unbegun == (one_by_one ? 3 : 10));
  Jobs more(9);
  CHECK(pool->try_submit(more).admission == Admission::full);
  const std::uint32_t leaving = one_by_one ? 9 : 2;
  pool->leave_early(overdue[0].claim, leaving);
  CHECK(pool->snapshot().in_flight == 10 - leaving);
  CHECK(pool->try_submit(more).taken == leaving);
  CHECK(pool->withdraw(0).size() == 1);
  gate.open();
  REQUIRE(eventually([&] { return pool->drained(); }));
  CHECK(begun == (one_by_one ? 3 : 10));
  pool->leave_early(overdue[0].claim, 1);  // comes too late, and changes nothing
  CHECK(pool->drained());
  REQUIRE(pool->join(Deadline::in(patience)));
}

TEST_CASE("a job that runs beyond its deadline is stopped and counted once") {
  Gate gate;
  std::atomic<bool> stopped{false};
  TestPool pool(with_deadline(seconds(1000)), [&](const Claim& claim) {
    gate.pass();
    stopped = claim.stop_token(0).stop_requested();
  });
  const auto before = SteadyClock::now();
  Jobs job(1);
  pool->try_submit(job);
  REQUIRE(gate.holds(1));
  const auto after = SteadyClock::now();
  pool->tick(before + seconds(1000));  // the claim began later than `before`
  CHECK(pool->snapshot().expired == 0);
  pool->tick(after + seconds(1000) + nanoseconds(1));
  pool->tick(after + seconds(2000));
  CHECK(pool->snapshot().expired == 1);
  gate.open();
  REQUIRE(pool->join(Deadline::in(patience)));
  CHECK(stopped);
}

TEST_CASE("each job of a claim has its own time from when it was first seen, and its own stop") {
  Gate before_second;
  Gate in_second;
  std::vector<bool> stopped;
  TestPool pool(with_deadline(seconds(1000)), [&](const Claim& claim) {
    before_second.pass();
    claim.slot->progress(claim.first_ticket + 1);
    in_second.pass();
    for (std::uint32_t job = 0; job < 3; ++job) stopped.push_back(claim.stop_token(job).stop_requested());
  });
  Jobs jobs(3, true);
  pool->try_submit(jobs);
  REQUIRE(before_second.holds(1));
  before_second.open();
  REQUIRE(in_second.holds(1));
  const auto seen = SteadyClock::now() + seconds(500);
  pool->tick(seen);
  pool->tick(seen + seconds(1000));
  CHECK(pool->snapshot().expired == 0);
  pool->tick(seen + seconds(1000) + nanoseconds(1));
  CHECK(pool->snapshot().expired == 1);
  in_second.open();
  REQUIRE(pool->join(Deadline::in(patience)));
  CHECK(stopped == std::vector<bool>{true, true, false});
}

TEST_CASE("an old stop does not reach the next job of the same slot") {
  Gate gates[2];
  std::atomic<int> begun{0};
  std::vector<bool> stopped;
  TestPool pool(with_deadline(seconds(1000)), [&](const Claim& claim) {
    gates[begun++].pass();
    stopped.push_back(claim.stop_token(0).stop_requested());
  });
  Jobs jobs[2] = {Jobs(1), Jobs(1)};
  pool->try_submit(jobs[0]);
  REQUIRE(gates[0].holds(1));
  pool->tick(SteadyClock::now() + seconds(2000));
  gates[0].open();
  REQUIRE(eventually([&] { return pool->drained(); }));
  pool->try_submit(jobs[1]);
  REQUIRE(gates[1].holds(1));
  pool->tick(SteadyClock::now());
  CHECK(pool->snapshot().expired == 1);
  gates[1].open();
  REQUIRE(pool->join(Deadline::in(patience)));
  CHECK(stopped == std::vector<bool>{true, false});
}

TEST_CASE("a job that ignores its stop is stuck: another worker replaces its worker until the job returns") {
  Gate gate;
  std::atomic<int> begun{0};
  TestPool pool(with_deadline(seconds(1000)), [&](const Claim&) {
    if (begun++ == 0) gate.pass();
  });
  Jobs stubborn(1);
  Jobs next(1);
  REQUIRE(pool->try_submit(stubborn).taken == 1);
  REQUIRE(gate.holds(1));
  REQUIRE(pool->try_submit(next).taken == 1);
  const auto now = SteadyClock::now();
  CHECK(pool->tick(now + seconds(1001)).empty());
  CHECK(pool->tick(now + seconds(1005)).empty());
  CHECK(pool->snapshot().stuck == 0);
  CHECK(begun == 1);
  const auto stuck = pool->tick(now + seconds(1011));
  REQUIRE(stuck.size() == 1);
  CHECK(stuck.front().batch == &stubborn);
  CHECK(stuck.front().count() == 1);
  REQUIRE(eventually([&] { return begun == 2 && pool->snapshot().in_flight == 1; }));
  CHECK(pool->tick(now + seconds(1012)).empty());
  CHECK(pool->snapshot().stuck == 1);

  gate.open();
  REQUIRE(eventually([&] { return pool->drained(); }));
  CHECK(pool->snapshot().stuck == 0);
  REQUIRE(pool->join(Deadline::in(patience)));
}

TEST_CASE("a claim with all jobs answered is hidden before it finishes, because its batch may be gone") {
  Gate gate;
  Gate second;
  std::atomic<int> begun{0};
  TestPool pool(with_deadline(seconds(1000)), [&](const Claim& claim) {
    if (begun++ > 0) return second.pass();
    claim.slot->set_answered();
    gate.pass();
  });
  Jobs answered(1);
  pool->try_submit(answered);
  REQUIRE(gate.holds(1));
  const auto now = SteadyClock::now();
  CHECK(pool->in_flight().empty());
  CHECK(pool->tick(now + seconds(1001)).empty());
  CHECK(pool->tick(now + seconds(1011)).empty());
  CHECK(pool->snapshot().expired == 0);
  CHECK(pool->snapshot().in_flight == 1);

  gate.open();
  REQUIRE(eventually([&] { return pool->drained(); }));
  Jobs next(1);
  pool->try_submit(next);
  REQUIRE(second.holds(1));
  CHECK(pool->in_flight().size() == 1);  // of the same slot
  second.open();
  REQUIRE(pool->join(Deadline::in(patience)));
}

TEST_CASE("when stuck jobs have returned, as many jobs run as before") {
  Gate first;
  Gate second;
  std::atomic<bool> all_stuck{true};
  TestPool pool(with_deadline(seconds(1000)), [&](const Claim&) { (all_stuck ? first : second).pass(); });
  const auto workers = pool->limits().workers;
  std::vector<std::unique_ptr<Jobs>> jobs;
  const auto submit = [&] {
    jobs.push_back(std::make_unique<Jobs>(1));
    REQUIRE(pool->try_submit(*jobs.back()).taken == 1);
  };
  for (std::uint32_t i = 0; i < workers; ++i) submit();
  REQUIRE(first.holds(static_cast<int>(workers)));
  const auto now = SteadyClock::now();
  (void)pool->tick(now + seconds(1001));
  CHECK(pool->tick(now + seconds(1011)).size() == workers);
  all_stuck = false;
  first.open();
  REQUIRE(eventually([&] { return pool->drained(); }));
  for (std::uint32_t i = 0; i < workers + 3; ++i) submit();
  REQUIRE(second.holds(static_cast<int>(workers)));
  CHECK(pool->snapshot().in_flight == workers);
  CHECK(pool->snapshot().queued == 3);
  second.open();
  REQUIRE(pool->join(Deadline::in(patience)));
}

TEST_CASE("a finished job does not exceed its deadline") {
  TestPool pool(with_deadline(seconds(1000)), run_jobs);
  Jobs job(1);
  pool->try_submit(job);
  REQUIRE(eventually([&] { return pool->drained(); }));
  pool->tick(SteadyClock::now() + seconds(2000));
  CHECK(pool->snapshot().expired == 0);
  REQUIRE(pool->join(Deadline::in(patience)));
}

TEST_CASE("a job that ends while its deadline is checked does not stop later jobs") {
  WorkerSlots slots(1, seconds(1000), seconds(10));
  Jobs job(1);
  auto now = SteadyClock::now();
  const Claim claim = slots.take({&job, 0, 1}, 1, false, now);
  std::atomic<bool> end{false};
  std::thread worker([&] {
    while (!end) {
      claim.slot->progress(claim.first_ticket);
      claim.slot->set_answered();
    }
  });
  std::vector<Range> stuck;
  for (int checks = 0; checks < 100'000; ++checks)
    for (const auto& found : slots.expire(now += seconds(1001)).jobs) stuck.push_back(found);
  end = true;
  worker.join();
  for (const auto& found : stuck) CHECK((found.begin == 0 && found.end == 1));
  CHECK_FALSE(StopToken{&claim.slot->stop, claim.first_ticket + 1}.stop_requested());
}

TEST_CASE("joining gives up at its deadline while a worker is stuck, and succeeds when the job returns") {
  Gate gate;
  TestPool pool(limits(2, 10), [&](const Claim& claim) {
    gate.pass();
    run_jobs(claim);
  });
  Jobs jobs(5);
  pool->try_submit(jobs);
  REQUIRE(gate.holds(2));
  CHECK_FALSE(pool->join(Deadline::in(Duration::zero())));
  CHECK(pool->snapshot().threads == 2);
  gate.open();
  CHECK(pool->join(Deadline::in(patience)));
  CHECK(pool->join(Deadline::in(patience)));
  CHECK(pool->snapshot().threads == 0);
  CHECK(jobs.all_ran());
}

TEST_CASE("joining waits for claims that finish elsewhere") {
  std::atomic<bool> passed_on{false};
  Claim held;
  TestPool pool(
      limits(1, 10),
      [&](const Claim& claim) {
        held = claim;
        passed_on = true;
      },
      TestPool::Finish::later);
  Jobs job(1);
  pool->try_submit(job);
  REQUIRE(eventually([&] { return passed_on.load(); }));
  CHECK_FALSE(pool->join(Deadline::in(Duration::zero())));
  REQUIRE(eventually([&] { return pool->snapshot().threads == 0; }));
  CHECK_FALSE(pool->join(Deadline::in(Duration::zero())));
  std::thread finisher([&] { pool->finish(held); });
  CHECK(pool->join(Deadline::in(patience)));
  finisher.join();
}

TEST_CASE("a pool that is destroyed runs its accepted jobs") {
  Jobs jobs(50);
  {
    TestPool pool(limits(2, 100), run_jobs);
    CHECK(pool->try_submit(jobs).taken == 50);
  }
  CHECK(jobs.all_ran());
}
