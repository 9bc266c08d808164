#include <algorithm>
#include <set>
#include <thread>

#include "support.h"

using namespace laneway;
using namespace laneway::pool;

TEST_CASE("one worker claims in the order of submission") {
  std::vector<Range> claimed;
  TestPool pool(limits(1, 1000), [&](const Claim& claim) {
    claimed.push_back(claim.range);
    run_jobs(claim);
  });
  std::vector<std::unique_ptr<Jobs>> batches;
  for (std::uint32_t i = 0; i < 20; ++i) {
    batches.push_back(std::make_unique<Jobs>(i * 2, i % 3 == 0));
    CHECK(pool->try_submit(*batches.back()).admission == Admission::accepted);
  }
  REQUIRE(pool->join(Deadline::in(patience)));
  std::size_t batch = 0;
  std::uint32_t next = 0;
  for (const Range& range : claimed) {
    while (next == batches[batch]->size) {
      ++batch;
      next = 0;
    }
    REQUIRE(range.batch == batches[batch].get());
    REQUIRE(range.begin == next);
    next = range.end;
  }
  for (const auto& jobs : batches) CHECK(jobs->all_ran());
}

TEST_CASE("any free worker takes the next job: a job that hangs delays no other") {
  Gate gate;
  Jobs hanging(1);
  TestPool pool(limits(2, 200), [&](const Claim& claim) {
    if (claim.range.batch == &hanging) gate.pass();
    run_jobs(claim);
  });
  CHECK(pool->try_submit(hanging).taken == 1);
  REQUIRE(gate.holds(1));
  std::vector<Jobs> jobs = single_jobs(100);
  for (Jobs& job : jobs) CHECK(pool->try_submit(job).taken == 1);
  for (const Jobs& job : jobs) {
    REQUIRE(eventually([&] {
      pool->tick(SteadyClock::now());  // the submitter's tick: the jobs are fast, so waking a worker may not
                                       // have seemed worth it
      return job.all_ran();
    }));
  }
  CHECK(gate.holds(1));
  CHECK(hanging.all_ran(0));
  gate.open();
  REQUIRE(pool->join(Deadline::in(patience)));
}

TEST_CASE("a sequential batch is one claim, however many jobs it has") {
  Mutex mutex;
  std::vector<Range> claimed;
  TestPool pool(limits(4, 2000), [&](const Claim& claim) {
    MutexLock lock(mutex);
    claimed.push_back(claim.range);
  });
  Jobs sequential(300, true);
  Jobs others(5);
  CHECK(pool->try_submit(others).taken == 5);
  CHECK(pool->try_submit(sequential).taken == 300);
  REQUIRE(pool->join(Deadline::in(patience)));
  const auto of_sequential = [&](const Range& range) { return range.batch == &sequential; };
  CHECK(std::count_if(claimed.begin(), claimed.end(), of_sequential) == 1);
  const auto it = std::find_if(claimed.begin(), claimed.end(), of_sequential);
  CHECK(it->begin == 0);
  CHECK(it->end == 300);
}

TEST_CASE("no claim exceeds the limit, except a sequential batch") {
  Mutex mutex;
  std::vector<std::uint32_t> claimed;
  auto two_at_most = limits(1, 2000);
  two_at_most.most_per_claim = 2;
  TestPool pool(two_at_most, [&](const Claim& claim) {
    MutexLock lock(mutex);
    claimed.push_back(claim.range.count());
  });
  Jobs fast(1000);
  Jobs sequential(5, true);
  CHECK(pool->try_submit(fast).taken == 1000);
  CHECK(pool->try_submit(sequential).taken == 5);
  REQUIRE(pool->join(Deadline::in(patience)));
  CHECK(claimed.back() == 5);
  claimed.pop_back();
  CHECK(*std::max_element(claimed.begin(), claimed.end()) == 2);
}

TEST_CASE("whole claims take as many waiting jobs as a claim may have, however long jobs take") {
  Mutex mutex;
  std::vector<std::uint32_t> claimed;
  auto whole = limits(1, 2000);
  whole.most_per_claim = 100;
  whole.whole_claims = true;
  TestPool pool(whole, [&](const Claim& claim) {
    std::this_thread::sleep_for(milliseconds(1));
    MutexLock lock(mutex);
    claimed.push_back(claim.range.count());
  });
  Jobs jobs(250);
  CHECK(pool->try_submit(jobs).taken == 250);
  REQUIRE(pool->join(Deadline::in(patience)));
  CHECK(claimed == std::vector<std::uint32_t>{100, 100, 50});
}

TEST_CASE("claims of fast jobs grow") {
  std::atomic<std::uint32_t> largest{0};
  TestPool pool(limits(1, 1000),
                [&](const Claim& claim) { largest = std::max(largest.load(), claim.range.count()); });
  Jobs jobs(256);
  CHECK(eventually([&] {
    pool->try_submit(jobs);
    return largest > 100;
  }));
  REQUIRE(pool->join(Deadline::in(patience)));
}

TEST_CASE("each job of a claim has its own rising ticket") {
  std::vector<std::uint64_t> tickets;
  TestPool pool(limits(1, 1000), [&](const Claim& claim) {
    for (std::uint32_t i = 0; i < claim.range.count(); ++i) tickets.push_back(claim.first_ticket + i);
  });
  Jobs jobs(100);
  Jobs sequential(7, true);
  CHECK(pool->try_submit(jobs).taken == 100);
  CHECK(pool->try_submit(sequential).taken == 7);
  REQUIRE(pool->join(Deadline::in(patience)));
  REQUIRE(tickets.size() == 107);
  CHECK(tickets.front() == 1);
  CHECK(std::adjacent_find(tickets.begin(), tickets.end(), std::greater_equal<>()) == tickets.end());
}

TEST_CASE("waiting and service are counted once for every job") {
  TestPool pool(limits(2, 1000), run_jobs);
  Jobs jobs(500);
  CHECK(pool->try_submit(jobs).taken == 500);
  REQUIRE(pool->join(Deadline::in(patience)));
  const auto count = [](const Histogram& histogram) {
    std::uint64_t sum = 0;
    for (const auto bucket : histogram.snapshot().counts) sum += bucket;
    return sum;
  };
  CHECK(count(pool->queue_wait()) == 500);
  CHECK(count(pool->duration()) == 500);
}

TEST_CASE("a claim that another thread finishes occupies its slot until its end") {
  Mutex mutex;
  std::vector<Claim> held;
  const auto held_now = [&] {
    MutexLock lock(mutex);
    return held.size();
  };
  const auto take = [&] {
    MutexLock lock(mutex);
    const Claim claim = held.back();
    held.pop_back();
    return claim;
  };
  TestPool pool(
      limits(2, 4),
      [&](const Claim& claim) {
        run_jobs(claim);
        MutexLock lock(mutex);
        held.push_back(claim);
      },
      TestPool::Finish::later);
  std::vector<Jobs> jobs = single_jobs(6);
  for (Jobs& job : jobs) CHECK(pool->try_submit(job).taken == 1);
  Jobs beyond(1);
  CHECK(pool->try_submit(beyond).taken == 0);
  for (std::uint32_t finished = 0; finished < 6; ++finished) {
    REQUIRE(eventually([&] { return held_now() == std::min(2U, 6 - finished); }));
    CHECK(pool->snapshot().in_flight == std::min(2U, 6 - finished));
    CHECK(pool->snapshot().queued == (finished < 4 ? 4 - finished : 0));
    std::thread finisher([&] { pool->finish(take()); });
    finisher.join();
  }
  CHECK(pool->drained());
  REQUIRE(pool->join(Deadline::in(patience)));
  for (const Jobs& job : jobs) CHECK(job.all_ran());
  CHECK(beyond.all_ran(0));
}
