// Which lanes of a member exist, have work, are due, and have ended. The lanes are real, on simulated
// partitions; their handler keeps the records until the test answers, so that there is no thread.
#include "lane/member/member_lanes.h"

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "catch.h"
#include "eventually.h"
#include "lane/simulated_partition.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

class UnhurriedHandler final : public handler::Handler {
 public:
  void handle(handler::Task task) noexcept override { tasks_.push_back(std::move(task)); }
  bool asynchronous() const override { return true; }
  std::uint32_t most_per_task() const override { return 1; }
  std::string name() const override { return "unhurried"; }

  /// Every running record is done, and every queued record after it.
  void answer_all() {
    while (!tasks_.empty()) {
      auto task = std::move(tasks_.front());
      tasks_.pop_front();
      static_cast<void>(task.attempt(0));
      task.answer(0, handler::Outcome::done());
    }
  }

 private:
  std::deque<handler::Task> tasks_;
};

struct MemberWithLanes {
  MemberWithLanes() {
    auto& stage = context.stages.emplace_back();
    stage.settings.workers = 4;
    stage.settings.queue = 10'000;
    stage.handler = &handler;
    stage.downstream = &no_breaker;
    context.memory.lane_bytes = 1 << 24;
    context.memory.fetch.queued_min_messages = 1000;
    context.retry.max_crashes = 0;
    context.suspensions = &suspensions;
  }
  ~MemberWithLanes() {
    for (auto* lane : lanes.all()) lanes.end(*lane, Lane::Ending::given_up, now);
    handler.answer_all();
  }
  MemberWithLanes(const MemberWithLanes&) = delete;

  /// A lane that is not due for a long time.
  MemberLane& add(std::int32_t partition, std::int64_t records = 0) {
    auto& log = partitions[partition];
    log.add_run(0, records);
    auto& added = lanes.add({.partition = {"orders", partition}, .offset = 0}, now);
    added.lane->start(std::make_unique<SimulatedSource>(log), now);
    lanes.tick_at(added, now + std::chrono::hours(1));
    return added;
  }
  void work(MemberLane& lane) {
    lanes.make_ready(lane);
    while (lanes.any_ready()) lanes.work(now);
  }
  void tick() {
    lanes.tick(now, [](const auto&) {});
  }
  std::uint64_t end(MemberLane& lane) { return lanes.end(lane, Lane::Ending::given_up, now); }
  /// How many records the lane has taken.
  std::size_t taken(std::int32_t partition) { return partitions[partition].next; }

  Downstream no_breaker{"none", {.breaker = {.failures = 0}}};
  UnhurriedHandler handler;
  Suspensions suspensions;
  LaneContext context;
  std::map<std::int32_t, Partition> partitions;
  Signal signal;
  TimePoint now = SteadyClock::now();
  MemberLanes lanes{context, signal};
};

using LanesOfMember = std::vector<MemberLane*>;

}  // namespace

TEST_CASE_METHOD(MemberWithLanes, "a lane is found by its partition until it ends") {
  CHECK(lanes.all().empty());
  auto& four = add(4);
  auto& three = add(3);
  CHECK(lanes.find({"orders", 4}) == &four);
  CHECK(lanes.find({"orders", 5}) == nullptr);
  CHECK(lanes.find({"others", 4}) == nullptr);
  CHECK(lanes.all() == LanesOfMember{&three, &four});
  CHECK(lanes.of({{"orders", 4}, {"orders", 5}, {"orders", 3}}) == LanesOfMember{&four, &three});
  CHECK(end(three) == 0);
  CHECK(lanes.find({"orders", 3}) == nullptr);
  CHECK(lanes.all() == LanesOfMember{&four});
}

TEST_CASE_METHOD(MemberWithLanes, "a lane that follows another one of its partition has a later epoch") {
  auto& before = add(3);
  const auto epoch = before.lane->epoch();
  end(before);
  CHECK(add(3).lane->epoch() > epoch);
}

TEST_CASE_METHOD(MemberWithLanes, "other threads see the lanes of the last publication") {
  auto& three = add(3);
  CHECK(lanes.published().empty());
  lanes.publish();
  REQUIRE(lanes.published().size() == 1);
  CHECK(lanes.published().front() == three.lane);
  add(4);
  end(three);
  CHECK(lanes.published().size() == 1);
  lanes.publish();
  REQUIRE(lanes.published().size() == 1);
  CHECK(lanes.published().front()->partition().partition == 4);
}

// Lanes that have work

TEST_CASE_METHOD(MemberWithLanes, "only a lane that was signalled is worked, however often it was") {
  add(3, 5);
  auto& four = add(4, 5);
  CHECK_FALSE(lanes.any_ready());
  four.on_ready();
  four.on_ready();
  CHECK(lanes.any_ready());
  lanes.work(now);
  CHECK(taken(3) == 0);
  CHECK(taken(4) == 5);
  CHECK_FALSE(lanes.any_ready());
  partitions[4].add(5);
  four.on_ready();  // the signals before are over
  lanes.work(now);
  CHECK(taken(4) == 6);
}

TEST_CASE_METHOD(MemberWithLanes, "a signal ends the sleep of the loop") {
  auto& lane = add(3);
  lane.on_ready();
  const auto deadline = Deadline::in(patience);
  signal.wait_until(SteadyClock::now() + patience);
  CHECK_FALSE(deadline.passed());
  CHECK(lanes.any_ready());
}

TEST_CASE_METHOD(MemberWithLanes, "lanes with much work have one run each at a time, and stay ready") {
  constexpr std::int64_t many = 5000;
  auto& three = add(3, many);
  auto& four = add(4, many);
  three.on_ready();
  lanes.make_ready(four);
  lanes.make_ready(four);
  lanes.work(now);
  const auto run = taken(3);
  CHECK(run > 0);
  CHECK(run < many);
  CHECK(taken(4) == run);
  CHECK(lanes.any_ready());
  lanes.work(now);
  CHECK(taken(3) == 2 * run);
  CHECK(taken(4) == 2 * run);
  while (lanes.any_ready()) lanes.work(now);
  CHECK(taken(3) == many);
  CHECK(taken(4) == many);
}

// Lanes that are due

TEST_CASE_METHOD(MemberWithLanes, "the lane that is due first decides the next tick") {
  CHECK_FALSE(lanes.next_tick());
  auto& three = add(3);
  auto& four = add(4);
  lanes.tick_at(three, now + seconds(2));
  lanes.tick_at(four, now + seconds(1));
  CHECK(lanes.next_tick() == now + seconds(1));
  lanes.tick_at(four, now + seconds(3));
  CHECK(lanes.next_tick() == now + seconds(2));
  end(three);
  CHECK(lanes.next_tick() == now + seconds(3));
  end(four);
  CHECK_FALSE(lanes.next_tick());
}

TEST_CASE_METHOD(MemberWithLanes, "a new lane is due at once") {
  lanes.add({.partition = {"orders", 3}, .offset = 0}, now);
  CHECK(lanes.next_tick() == now);
}

TEST_CASE_METHOD(MemberWithLanes, "all lanes that are due are ticked once, and the others are not") {
  auto& three = add(3);
  auto& four = add(4);
  auto& five = add(5);
  lanes.tick_at(three, now - seconds(1));
  lanes.tick_at(four, now);
  lanes.tick_at(five, now + nanoseconds(1));
  tick();
  CHECK(lanes.next_tick() == now + nanoseconds(1));
  auto ticked = lanes.worked();
  CHECK(std::set(ticked.begin(), ticked.end()) == std::set{&three, &four});
  now += nanoseconds(1);
  tick();
  CHECK(lanes.worked().size() == 3);
  CHECK(lanes.next_tick() > now);
}

TEST_CASE_METHOD(MemberWithLanes,
                 "a lane that has nothing more to do is ticked 50 ms later, or before if it is due") {
  auto& lane = add(3, 5);
  work(lane);
  CHECK(lanes.next_tick() == now + milliseconds(50));
  lanes.tick_at(lane, now + milliseconds(10));
  work(lane);
  CHECK(lanes.next_tick() == now + milliseconds(10));
}

// Commits

TEST_CASE_METHOD(MemberWithLanes,
                 "a lane may have something to commit after each work, until a commit finds nothing") {
  auto& three = add(3, 1);
  auto& four = add(4, 1);
  CHECK(lanes.worked().empty());
  work(three);
  work(three);
  CHECK(lanes.worked() == LanesOfMember{&three});
  work(four);
  CHECK(lanes.worked().size() == 2);
  lanes.nothing_to_commit(three);
  lanes.nothing_to_commit(three);
  CHECK(lanes.worked() == LanesOfMember{&four});
  work(three);
  CHECK(lanes.worked().size() == 2);
  end(three);
  CHECK(lanes.worked() == LanesOfMember{&four});
}

TEST_CASE_METHOD(MemberWithLanes, "records of all lanes that are completed count until a commit begins") {
  auto& three = add(3, 2);
  auto& four = add(4, 3);
  work(three);
  work(four);
  CHECK(lanes.since_commit.completed == 0);
  handler.answer_all();
  work(three);
  CHECK(lanes.since_commit.completed == 2);
  work(four);
  CHECK(lanes.since_commit.completed == 5);
  lanes.since_commit = {};
  CHECK(lanes.since_commit.completed == 0);
  work(three);
  CHECK(lanes.since_commit.completed == 0);
}

TEST_CASE_METHOD(MemberWithLanes, "a lane that wants a commit, or the member itself, is heard once") {
  auto& lane = add(3);
  work(lane);
  CHECK_FALSE(lanes.since_commit.wanted);
  suspensions.decide("orders", 3, {true, 1000});
  lane.lane->follow_suspensions(now);
  work(lane);
  CHECK(lanes.since_commit.wanted);
  const auto decision = lane.lane->commit_candidate();
  REQUIRE(decision);
  lane.lane->committed(*decision);
  lanes.since_commit = {};
  work(lane);
  CHECK_FALSE(lanes.since_commit.wanted);
  lanes.since_commit.wanted = true;
  CHECK(lanes.since_commit.wanted);
}

// Lanes that end

TEST_CASE_METHOD(MemberWithLanes, "a lane that leaves is drained when its last record is answered") {
  auto& lane = add(3, 2);
  work(lane);
  lane.lane->begin_drain(now, now + seconds(60));
  CHECK_FALSE(lanes.drained(lane, now));
  handler.answer_all();
  CHECK(lanes.drained(lane, now));
  CHECK(lanes.since_commit.completed == 2);
  CHECK(lanes.worked() == LanesOfMember{&lane});
}

TEST_CASE_METHOD(MemberWithLanes, "an ended lane is buried when its handlers have returned") {
  CHECK(lanes.all_buried());
  auto& lane = add(3, 2);
  const std::weak_ptr<Lane> kept = lane.lane;
  work(lane);
  CHECK(end(lane) == 2);
  CHECK_FALSE(lanes.any_ending());
  lanes.bury(now);
  CHECK_FALSE(lanes.all_buried());
  handler.answer_all();
  CHECK(lanes.any_ending());
  while (lanes.any_ready()) lanes.work(now);  // the answers may have signalled
  lanes.bury(now);
  CHECK(lanes.all_buried());
  CHECK_FALSE(lanes.any_ending());
  CHECK(kept.expired());
}

TEST_CASE_METHOD(MemberWithLanes,
                 "an ended lane is buried when the handlers of each of its pools have returned") {
  context.stages.push_back(context.stages.front());
  context.stages[0].settings.name = "first";
  context.stages[0].then = 1;
  context.stages[1].settings.name = "second";
  auto& lane = add(3, 1);
  work(lane);
  handler.answer_all();
  work(lane);  // the second pool has the record
  end(lane);
  CHECK_FALSE(lanes.any_ending());
  lanes.bury(now);
  CHECK_FALSE(lanes.all_buried());
  handler.answer_all();
  CHECK(lanes.any_ending());
  while (lanes.any_ready()) lanes.work(now);
  lanes.bury(now);
  CHECK(lanes.all_buried());
}

TEST_CASE_METHOD(MemberWithLanes,
                 "an ended lane whose signal is not taken yet is not buried, and not worked") {
  auto& lane = add(3, 2);
  lane.on_ready();
  end(lane);
  lanes.bury(now);
  CHECK_FALSE(lanes.all_buried());
  lanes.work(now);
  CHECK(taken(3) == 0);
  lanes.bury(now);
  CHECK(lanes.all_buried());
}

TEST_CASE_METHOD(MemberWithLanes, "a ready lane that ends does not keep the others from their work") {
  auto& three = add(3, 2);
  auto& four = add(4, 2);
  lanes.make_ready(three);
  lanes.make_ready(four);
  end(three);
  lanes.bury(now);
  CHECK_FALSE(lanes.all_buried());
  lanes.work(now);
  CHECK(taken(3) == 0);
  CHECK(taken(4) == 2);
  lanes.bury(now);
  CHECK(lanes.all_buried());
}

TEST_CASE_METHOD(MemberWithLanes, "a partition can have a new lane before the ended one is buried") {
  auto& before = add(3, 2);
  work(before);
  end(before);
  partitions[3].go_to(0);
  auto& after = add(3);
  work(after);
  CHECK(taken(3) == 2);
  CHECK(lanes.find({"orders", 3}) == &after);
  handler.answer_all();
  while (lanes.any_ready()) lanes.work(now);
  work(after);
  CHECK(lanes.since_commit.completed == 2);  // those of the new lane
  lanes.bury(now);
  CHECK(lanes.all_buried());
}
