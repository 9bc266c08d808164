#include <rapidcheck.h>

#include <numeric>
#include <sstream>

#include "app/demo/audit.h"
#include "app/demo/observer.h"
#include "app/demo/plan.h"
#include "app/demo/screen.h"
#include "catch.h"

using namespace laneway;
using demo::Audit;
using demo::Plan;
using lane::State;

namespace {

std::uint64_t sum(const std::vector<std::uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::string line(int partition, int offset, const std::string& outcome) {
  return R"({"topic":"demo","partition":)" + std::to_string(partition) + R"(,"offset":)" +
         std::to_string(offset) + R"(,"epoch":1,"attempt":1,"start":1,"end":2,"outcome":")" + outcome +
         R"(","key":null})";
}

/// Two partitions; of the first one offsets 0, 1 and 2 succeeded, each once.
Audit three_done() {
  Audit audit(2);
  for (int offset = 0; offset < 3; ++offset) audit.note(line(0, offset, "success"));
  return audit;
}

service::LaneView view(std::int32_t partition, std::uint64_t epoch, State state, std::uint64_t holds = 0) {
  service::LaneView view;
  view.partition = partition;
  view.epoch = epoch;
  view.state = state;
  view.holds = holds;
  return view;
}

using Events = std::vector<std::string>;

}  // namespace

TEST_CASE("every record comes at the end of its time, and not before", "[plan]") {
  REQUIRE(rc::check([] {
    const auto records = *rc::gen::inRange<std::uint64_t>(100, 50001);
    const Plan plan(records, seconds(*rc::gen::inRange(3, 601)));
    RC_ASSERT(sum(plan.due(plan.produce_for())) == records);
    RC_ASSERT(sum(plan.due(plan.produce_for() / 2)) < records);
    RC_ASSERT(sum(plan.due(Duration::zero())) == 0U);
  }));
}

TEST_CASE("no record is taken back", "[plan]") {
  REQUIRE(rc::check([] {
    const Plan plan(*rc::gen::inRange<std::uint64_t>(100, 50001), seconds(20));
    const auto early = milliseconds(*rc::gen::inRange(0, 20000));
    const auto before = plan.due(early);
    const auto after = plan.due(early + milliseconds(*rc::gen::inRange(0, 5000)));
    for (std::size_t p = 0; p < before.size(); ++p) RC_ASSERT(before[p] <= after[p]);
  }));
}

TEST_CASE("the busiest lane keeps up with its average, but not with its bursts", "[plan]") {
  const Plan plan(4000, seconds(20));
  const double per_second = demo::workers / to_seconds(plan.work());
  const auto all = static_cast<double>(plan.due(plan.produce_for())[0]);
  CHECK(per_second > all / to_seconds(plan.produce_for()));
  const auto burst = static_cast<double>(plan.due(seconds(1))[0]);
  CHECK(burst > 1.5 * per_second);
}

TEST_CASE("a record that succeeded once and is committed is neither lost nor duplicated", "[audit]") {
  const auto found = three_done().judge({3, 0}, {3, -1});
  CHECK(found.good());
  CHECK(found.complete());
}

TEST_CASE("a committed record without a success is lost", "[audit]") {
  const auto found = three_done().judge({4, 0}, {4, -1});
  CHECK(found.lost == 1);
  CHECK_FALSE(found.good());
}

TEST_CASE("a committed record that only failed is lost", "[audit]") {
  auto audit = three_done();
  audit.note(line(0, 3, "retry"));
  CHECK(audit.judge({4, 0}, {3, -1}).good());
  CHECK(audit.judge({4, 0}, {4, -1}).lost == 1);
}

TEST_CASE("a record that is not committed yet counts as left, not as lost", "[audit]") {
  const auto found = three_done().judge({5, 2}, {3, -1});
  CHECK(found.good());
  CHECK_FALSE(found.complete());
  CHECK(found.produced == 7);
  CHECK(found.processed == 3);
  CHECK(found.committed == 3);
}

TEST_CASE("a record that is processed but not committed is not complete: a restart would run it again",
          "[audit]") {
  const auto found = three_done().judge({3, 0}, {2, -1});
  CHECK(found.good());
  CHECK_FALSE(found.complete());
}

TEST_CASE("each further success of a record counts as a duplicate", "[audit]") {
  auto audit = three_done();
  audit.note(line(0, 1, "success"));
  audit.note(line(0, 1, "success"));
  CHECK(audit.judge({3, 0}, {3, -1}).duplicated == 2);
}

TEST_CASE("a journal line that is invalid or names no produced record counts as foreign", "[audit]") {
  auto audit = three_done();
  audit.note("{\"topic\":\"demo\",\"parti");
  audit.note(line(7, 0, "success"));
  audit.note(line(0, 3, "success"));
  const auto found = audit.judge({3, 0}, {3, -1});
  CHECK(found.foreign == 3);
  CHECK_FALSE(found.good());
}

TEST_CASE("the first hold of a lane is printed, and each pause with its end", "[observer]") {
  demo::Observer observer;
  const auto next = [&](State state) { return observer.update({{view(0, 1, state)}}); };
  CHECK(next(State::running) == Events{"member 1 has lanes 0"});
  CHECK(next(State::held) == Events{"lane 0 held: its queue is full, 0 behind"});
  CHECK(next(State::paused) == Events{"lane 0 paused: the hold lasted, so fetching stops"});
  CHECK(next(State::running) == Events{"lane 0 resumed"});
  CHECK(next(State::held).empty());
  CHECK(next(State::paused).size() == 1);
}

TEST_CASE("a rebalance is printed with the draining member and the lanes of each member", "[observer]") {
  demo::Observer observer;
  observer.update({{view(0, 1, State::running), view(1, 2, State::running)}, {}});
  CHECK(observer.update({{view(0, 1, State::draining), view(1, 2, State::running)}, {}}) ==
        Events{"member 1 drains 1 lanes"});
  CHECK(observer.update({{view(1, 2, State::running)}, {view(0, 3, State::running)}}) ==
        Events{"member 1 has lanes 1", "member 2 has lanes 0"});
  CHECK(observer.update({{view(1, 2, State::running)}, {}}) == Events{"member 2 has given its lanes back"});
}

TEST_CASE("the holds of a partition are counted over all of its lanes", "[observer]") {
  demo::Observer observer;
  observer.update({{view(0, 1, State::running, 3)}});
  observer.update({{view(0, 1, State::running, 5)}});
  observer.update({{view(0, 2, State::running, 1)}});
  CHECK(observer.rows()[0].holds == 6);
}

TEST_CASE("the table fits the smallest width of a terminal", "[screen]") {
  demo::Rows rows;
  for (auto& row : rows) {
    row.member = 2;
    row.state = State::draining;
    row.produced = row.done = 50000;
    row.committed = 50000;
  }
  std::istringstream table(demo::render_table(seconds(660), rows, {std::string(200, 'x')}));
  std::size_t lines = 0;
  for (std::string text; std::getline(table, text); ++lines) {
    for (std::size_t escape; (escape = text.find('\033')) != std::string::npos;)
      text.erase(escape, text.find('m', escape) - escape + 1);
    CHECK(text.size() <= demo::screen_width);
  }
  CHECK(lines > demo::partitions);
}

TEST_CASE("the line has the sums and the number of lanes in each state", "[screen]") {
  demo::Rows rows;
  rows[0].state = State::held;
  rows[0].produced = 5;
  rows[1].state = State::running;
  rows[1].produced = rows[1].done = 2;
  rows[1].committed = 1;
  CHECK(demo::render_line(milliseconds(1500), rows) ==
        "  1.5 s  produced 7  done 2  committed 1  lag 5    running 1  held 1\n");
}
