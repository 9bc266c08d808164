// Pools for work that only passes its claims on: without threads.
#include "support.h"

using namespace laneway;
using namespace laneway::pool;

namespace {

Limits asynchronous(std::uint32_t workers, std::uint32_t queue) {
  Limits result = limits(workers, queue);
  result.asynchronous = true;
  result.most_per_claim = 1;
  return result;
}

}  // namespace

TEST_CASE("submitters and finishers pass on asynchronous work, as far as there are slots") {
  std::vector<Claim> held;
  std::vector<std::thread::id> by;
  TestPool pool(
      asynchronous(2, 3),
      [&](const Claim& claim) {
        run_jobs(claim);
        held.push_back(claim);
        by.push_back(std::this_thread::get_id());
      },
      TestPool::Finish::later);
  Jobs jobs(6);
  const auto submitted = pool->try_submit(jobs);
  CHECK(submitted.taken == 5);
  CHECK(submitted.admission == Admission::full);
  CHECK(by == std::vector(2, std::this_thread::get_id()));
  std::thread finisher([&] {
    pool->finish(held[0]);
    CHECK(by.back() == std::this_thread::get_id());
  });
  finisher.join();
  CHECK(held.size() == 3);
  CHECK(pool->snapshot().in_flight == 2);
  CHECK(pool->snapshot().queued == 2);
  CHECK(pool->snapshot().threads == 0);
  CHECK(pool->try_submit(jobs, submitted.taken).taken == 1);
  for (std::size_t i = 1; i < held.size(); ++i) pool->finish(Claim(held[i]));
  CHECK(held.size() == 6);
  CHECK(jobs.all_ran());
  CHECK(pool->drained());
  REQUIRE(pool->join(Deadline::in(patience)));
}

TEST_CASE("asynchronous work that finishes at once does not recurse with each job") {
  int depth = 0;
  int deepest = 0;
  TestPool* self = nullptr;
  TestPool pool(
      asynchronous(1, 100000),
      [&](const Claim& claim) {
        deepest = std::max(deepest, ++depth);
        run_jobs(claim);
        (*self)->finish(claim);
        --depth;
      },
      TestPool::Finish::later);
  self = &pool;
  Jobs jobs(100000);
  CHECK(pool->try_submit(jobs).taken == 100000);
  CHECK(jobs.all_ran());
  CHECK(deepest == 1);
}

TEST_CASE("a submitter that waits for room in an asynchronous pool is called, also if the pool is empty") {
  int calls = 0;
  std::vector<Claim> held;
  TestPool pool(
      asynchronous(1, 0), [&](const Claim& claim) { held.push_back(claim); }, TestPool::Finish::later,
      [&] { ++calls; });
  Jobs jobs(1);
  pool->try_submit(jobs);
  pool->notify_at(0);
  CHECK(calls == 0);
  pool->finish(held[0]);
  CHECK(calls == 1);
  pool->notify_at(0);
  CHECK(calls == 2);
  pool->tick(SteadyClock::now());
  CHECK(pool->snapshot().threads == 0);
}
