// The order in which jobs of different turns begin, and the room that they need.
#include "support.h"

using namespace laneway;
using namespace laneway::pool;

namespace {

std::vector<Jobs> jobs_of(Turn turn, std::size_t count) {
  auto jobs = single_jobs(count);
  for (auto& one : jobs) one.turn = turn;
  return jobs;
}

/// A pool with one worker, which stays at its first job until the gate is open, and the jobs that it ran.
struct OneWorker {
  explicit OneWorker(std::uint32_t queue)
      : pool(limits(1, queue), [this](const Claim& claim) {
          gate.pass();
          run_jobs(claim);
          ran.push_back(static_cast<const Jobs*>(claim.range.batch));
        }) {
    REQUIRE(pool->try_submit(held).admission == Admission::accepted);
    REQUIRE(gate.holds(1));
  }
  void submit(std::vector<Jobs>& all) {
    for (auto& jobs : all) CHECK(pool->try_submit(jobs).admission == Admission::accepted);
  }
  void end() {
    gate.open();
    REQUIRE(pool->join(Deadline::in(patience)));
  }

  Jobs held{1};
  Gate gate;
  std::vector<const Jobs*> ran;
  TestPool pool;
};

}  // namespace

TEST_CASE("jobs that go first begin before all others, and alternating jobs take turns with ordered ones") {
  auto in_order = jobs_of(Turn::in_order, 4);
  auto alternating = jobs_of(Turn::alternating, 3);
  auto first = jobs_of(Turn::first, 2);
  OneWorker test(100);
  for (auto* all : {&in_order, &alternating, &first}) test.submit(*all);
  test.end();
  const std::vector<const Jobs*> expected{&test.held,   &first[0],       &first[1],    &alternating[0],
                                          &in_order[0], &alternating[1], &in_order[1], &alternating[2],
                                          &in_order[2], &in_order[3]};
  CHECK(test.ran == expected);
}

TEST_CASE("a full pool accepts unordered jobs, which take no room") {
  auto in_order = jobs_of(Turn::in_order, 4);
  auto others = jobs_of(Turn::alternating, 3);
  others.back().turn = Turn::first;
  OneWorker test(3);
  for (int i = 0; i < 3; ++i) CHECK(test.pool->try_submit(in_order[i]).taken == 1);
  CHECK(test.pool->try_submit(in_order[3]).admission == Admission::full);
  test.submit(others);
  CHECK(test.pool->snapshot().queued == 6);
  CHECK(test.pool->withdraw(5).size() == 1);
  CHECK(test.pool->try_submit(in_order[3]).taken == 1);
  test.end();
  CHECK(in_order[2].ran[0] == 0);  // withdrawn
  CHECK(in_order[3].all_ran());
  for (const auto& jobs : others) CHECK(jobs.all_ran());
}

TEST_CASE("jobs that would begin last are withdrawn first") {
  auto in_order = jobs_of(Turn::in_order, 2);
  auto alternating = jobs_of(Turn::alternating, 2);
  auto first = jobs_of(Turn::first, 2);
  OneWorker test(10);
  for (auto* all : {&first, &alternating, &in_order}) test.submit(*all);
  std::vector<Batch*> withdrawn;
  for (const auto& range : test.pool->withdraw(1)) withdrawn.push_back(range.batch);
  CHECK(withdrawn ==
        std::vector<Batch*>{&first[1], &alternating[0], &alternating[1], &in_order[0], &in_order[1]});
  test.end();
  CHECK(first[0].all_ran());
}
