// What makes a service not ready, and what does not.
#include "service/ready/readiness.h"

#include "catch.h"
#include "service/lanes/lane_history.h"

using namespace laneway;
using namespace laneway::service;
using lane::Hold;
using lane::State;

namespace {

lane::HoldBits bits(Hold reason) { return lane::bit(reason); }

LaneFacts working_lane() {
  LaneFacts lane;
  lane.view.topic = "orders";
  lane.view.partition = 3;
  lane.view.state = State::running;
  lane.view.lag = 100;
  return lane;
}

Facts working() {
  Facts facts;
  facts.members = {{.assigned = true}};
  facts.lanes = {working_lane()};
  return facts;
}

/// The codes; "" when it is ready.
std::string codes(const Facts& facts, const ReadinessLimits& limits = {}) {
  std::string all;
  for (const auto& reason : judge(facts, limits).reasons)
    (all += all.empty() ? "" : " ") += name_of(reason.code);
  return all;
}

std::string code_of(const LaneFacts& lane, const std::string& breaker = {}) {
  auto facts = working();
  facts.lanes = {lane};
  if (!breaker.empty()) facts.breakers = {breaker};
  return codes(facts);
}

}  // namespace

TEST_CASE("a service that works is ready, also without a lane") {
  CHECK(codes(working()).empty());
  auto idle = working();
  idle.lanes.clear();
  CHECK(codes(idle).empty());
}

TEST_CASE("a member whose committed offsets stay unreadable is not ready, with and without lanes") {
  auto facts = working();
  auto& member = facts.members.front();
  member.awaited_offsets = 3;
  member.awaiting_offsets = seconds(29);
  CHECK(codes(facts).empty());
  member.awaiting_offsets = seconds(30);
  CHECK(codes(facts) == "unreadable");
  CHECK(judge(facts, {}).reasons.front().text ==
        "member 1 cannot read the committed offsets of 3 partitions, for 30 s; the log names the error");
  facts.lanes.clear();
  CHECK(codes(facts) == "unreadable");
}

TEST_CASE("a service that has not started reports the reason, and a stopping service reports the stop") {
  Facts facts;
  facts.starting = "waiting for brokers and topics: no broker answers";
  CHECK(codes(facts) == "starting");
  CHECK(judge(facts, {}).reasons.front().text == facts.starting);
  facts.stopping = true;
  CHECK(codes(facts) == "stopping");
}

TEST_CASE("a member without any assignment is not ready, but an empty assignment suffices") {
  auto facts = working();
  facts.members.push_back({});
  CHECK(codes(facts) == "unassigned");
  CHECK(judge(facts, {}).reasons.front().text ==
        "member 2 has not received its partitions from the group yet");
  facts.members.back().without_topics = true;
  CHECK(judge(facts, {}).reasons.front().text ==
        "member 2 has found no topic that the pattern in topics matches");
  facts.members.back().without_topics = false;
  facts.members.back().assigned = true;
  CHECK(codes(facts).empty());
}

TEST_CASE("unreachable brokers are a reason, but a reconnection is not") {
  auto facts = working();
  facts.members.front().no_broker = seconds(9);
  CHECK(codes(facts).empty());
  facts.members.front().no_broker = seconds(10);
  CHECK(codes(facts) == "no_broker");
  CHECK(judge(facts, {}).reasons.front().text == "member 1 has had no connection to a broker for 10 s");
  facts.members.front().broker_error = "broker kafka:9093: its certificate expired";
  CHECK(judge(facts, {}).reasons.front().text ==
        "member 1 has had no connection to a broker for 10 s: broker kafka:9093: its certificate expired");
}

TEST_CASE("a missing coordinator is a reason while brokers answer, but one that moves is not") {
  auto facts = working();
  facts.members.front().no_coordinator = seconds(29);
  CHECK(codes(facts).empty());
  facts.members.front().no_coordinator = seconds(30);
  CHECK(codes(facts) == "no_coordinator");
  CHECK(judge(facts, {}).reasons.front().text ==
        "member 1 has had no connection to the coordinator of its group for 30 s, although brokers answer");
}

TEST_CASE("a rebalance is a reason only beyond its deadline") {
  auto facts = working();
  facts.members.front().joining = seconds(299);
  facts.lanes.front().view.state = State::draining;
  facts.lanes.front().without_progress = seconds(100);
  CHECK(codes(facts).empty());
  facts.members.front().joining = seconds(300);
  CHECK(codes(facts) == "rebalancing");
}

TEST_CASE("a lane with lag and no progress is named, with its state and its oldest record") {
  auto facts = working();
  auto& lane = facts.lanes.front();
  lane.without_progress = seconds(60) - milliseconds(1);
  CHECK(codes(facts).empty());
  lane.without_progress = seconds(75);
  lane.view.state = State::held;
  lane.detail.held_by = "pool full";
  lane.detail.oldest =
      lane::OldestRecord{17, seconds(80), 4, lane::OldestRecord::Phase::waiting, 4, "HTTP 500"};
  const auto readiness = judge(facts, {});
  REQUIRE(readiness.reasons.size() == 1);
  const auto& reason = readiness.reasons.front();
  CHECK(reason.code == ReasonCode::stalled);
  CHECK(reason.topic == "orders");
  CHECK(reason.partition == 3);
  CHECK(reason.text ==
        "orders:3 has made no progress for 75 s with a lag of 100; state held (pool full); oldest record "
        "orders:3:17, the oldest for 80 s, waiting; attempt 4 failed: HTTP 500");
  lane.detail.oldest->phase = lane::OldestRecord::Phase::running;
  lane.detail.oldest->attempt = 5;
  CHECK(judge(facts, {}).reasons.front().text.ends_with(
      "the oldest for 80 s, running (attempt 5); attempt 4 failed: HTTP 500"));
}

TEST_CASE("a lane that waits for a foreign transaction reports the command that names the producer") {
  auto facts = working();
  auto& lane = facts.lanes.front();
  lane.without_progress = seconds(75);
  lane.detail.open_transaction = 42;
  const auto readiness = judge(facts, {});
  REQUIRE(readiness.reasons.size() == 1);
  CHECK(readiness.reasons.front().code == ReasonCode::stalled);
  CHECK(
      readiness.reasons.front().text ==
      "orders:3 has made no progress for 75 s with a lag of 100: it waits at offset 42 for a transaction of "
      "another producer, which is still open; kafka-transactions.sh --bootstrap-server HOST:PORT "
      "describe-producers --topic orders --partition 3 names the producer; state running");
}

TEST_CASE("a lane without lag is not stalled") {
  auto lane = working_lane();
  lane.without_progress = seconds(1000);
  lane.view.lag = 0;
  CHECK(code_of(lane).empty());
}

TEST_CASE("a lane without news of its partition is stalled, and a quota is named as the cause") {
  auto facts = working();
  auto& lane = facts.lanes.front();
  lane.view.lag = -1;
  lane.without_progress = seconds(60) - milliseconds(1);
  CHECK(codes(facts).empty());
  lane.without_progress = seconds(61);
  CHECK(codes(facts) == "stalled");
  CHECK(
      judge(facts, {}).reasons.front().text ==
      "orders:3 has heard nothing of its partition for 61 s, neither records nor where the log ends, so its "
      "lag is not known; state running");
  facts.members.front().throttled = true;
  CHECK(
      judge(facts, {}).reasons.front().text ==
      "orders:3 has heard nothing of its partition for 61 s, neither records nor where the log ends, so its "
      "lag is not known; the brokers delay this client because of a quota; state running");
}

TEST_CASE("a partition that cannot be read becomes a reason after a while, also without lag") {
  auto facts = working();
  auto& lane = facts.lanes.front();
  lane.view.lag = 0;
  lane.detail.source_error = "orders [3]: topic does not exist";
  lane.detail.source_failing = seconds(29);
  CHECK(codes(facts).empty());
  lane.detail.source_failing = seconds(30);
  CHECK(codes(facts) == "unreadable");
  CHECK(judge(facts, {}).reasons.front().text ==
        "orders:3 cannot be read for 30 s; state running; last error: orders [3]: topic does not exist");
  lane.without_progress = seconds(1000);
  lane.view.lag = 5;
  CHECK(codes(facts) == "unreadable");
  lane.detail = {};
  lane.without_progress = {};
  CHECK(codes(facts).empty());
}

TEST_CASE("a suspended lane is never a reason") {
  auto lane = working_lane();
  lane.view.state = State::paused;
  lane.view.hold_bits = bits(Hold::suspended) | bits(Hold::window_full);
  lane.without_progress = lane.held = std::chrono::hours(10);
  CHECK(code_of(lane).empty());
}

TEST_CASE("a lane held by its failures or its oldest record is a reason, even if some records go on") {
  auto lane = working_lane();
  lane.view.state = State::paused;
  lane.held = lane.view.oldest_age = seconds(60);
  for (const auto reason : {Hold::window_full, Hold::retries_full, Hold::map_full}) {
    lane.view.hold_bits = bits(reason);
    CHECK(code_of(lane) == "held");
  }
  lane.held -= milliseconds(1);
  CHECK(code_of(lane).empty());
}

TEST_CASE("a window full of records that wait for their keys is not a reason while its oldest finish") {
  auto lane = working_lane();
  lane.view.state = State::held;
  lane.view.hold_bits = bits(Hold::window_full);
  lane.held = seconds(600);
  lane.view.oldest_age = seconds(2);
  CHECK(code_of(lane).empty());
  lane.view.oldest_age = seconds(60);
  CHECK(code_of(lane) == "held");
}

TEST_CASE("a lane held because its workers are too slow has lag, but is not a reason") {
  auto lane = working_lane();
  lane.view.state = State::paused;
  lane.held = std::chrono::hours(1);
  for (const auto reason : {Hold::pool_full, Hold::memory_full, Hold::rate_limited}) {
    lane.view.hold_bits = bits(reason);
    CHECK(code_of(lane).empty());
  }
}

TEST_CASE("records of a retry topic may wait until they are due without a stall") {
  auto lane = working_lane();
  lane.view.retry_delay = std::chrono::minutes(10);
  lane.view.state = State::held;
  lane.view.hold_bits = bits(Hold::retries_full);
  lane.held = lane.without_progress = std::chrono::minutes(10) + seconds(59);
  CHECK(code_of(lane).empty());
  lane.without_progress += seconds(1);
  CHECK(code_of(lane) == "stalled");
}

TEST_CASE("a stuck worker is a reason at once") {
  auto lane = working_lane();
  lane.view.stuck = 2;
  CHECK(code_of(lane) == "stuck");
}

TEST_CASE("a breaker that is not closed is one reason, however many lanes it holds") {
  auto lane = working_lane();
  CHECK(code_of(lane, "shop:443: refused") == "breaker_open");
  lane.view.state = State::paused;
  lane.view.hold_bits = bits(Hold::breaker_open);
  lane.without_progress = lane.held = seconds(600);
  CHECK(code_of(lane, "shop:443: refused") == "breaker_open");
}

TEST_CASE("the time limit of a stall is a setting") {
  auto facts = working();
  facts.lanes.front().without_progress = seconds(5);
  CHECK(codes(facts, {.stall = seconds(5)}) == "stalled");
}

namespace {

/// A lane's life, a second a step.
struct Story {
  void step(int times = 1) {
    for (int i = 0; i < times; ++i) history.observe({lane}, now += seconds(1));
  }
  double without_progress() const { return to_seconds(history.without_progress(lane, now)); }
  double held() const { return to_seconds(history.held(lane, now)); }

  LaneHistory history;
  LaneView lane = [] {
    auto view = working_lane().view;
    view.epoch = 7;
    return view;
  }();
  TimePoint now{};
};

}  // namespace

TEST_CASE("time without any news of a partition is counted while its lane takes records") {
  Story story;
  story.lane.lag = -1;
  story.step(31);
  CHECK(story.without_progress() == 30);
  story.lane.state = State::held;
  story.step(5);
  CHECK(story.without_progress() == 0);
  story.lane.state = State::running;
  story.lane.lag = 0;  // the log's end has come
  story.step(5);
  CHECK(story.without_progress() == 0);
}

TEST_CASE("progress is a finished record or a commit, and time without either is counted") {
  Story story;
  story.step(31);
  CHECK(story.without_progress() == 30);
  story.lane.finished = 1;
  CHECK(story.without_progress() == 0);  // before it is observed
  story.step();
  CHECK(story.without_progress() == 0);
  story.step(5);
  CHECK(story.without_progress() == 5);
  story.lane.committed = 10;
  story.step();
  CHECK(story.without_progress() == 0);
}

TEST_CASE("time without due work does not count as a stall") {
  Story story;
  const auto counts_anew_after = [&](auto change) {
    const auto before = story.lane;
    story.step(40);
    change(story.lane);
    story.step(20);
    CHECK(story.without_progress() == 0);
    story.lane = before;
    story.step(5);
    CHECK(story.without_progress() == 5);
  };
  counts_anew_after([](LaneView& lane) { lane.lag = 0; });
  counts_anew_after([](LaneView& lane) { lane.lag = -1, lane.state = State::held; });
  counts_anew_after([](LaneView& lane) { lane.hold_bits = bits(Hold::suspended); });
  counts_anew_after([](LaneView& lane) { lane.state = State::draining; });
}

TEST_CASE("a hold is counted from its beginning, through its pauses, and again after the lane ran") {
  Story story;
  story.step(5);
  CHECK(story.held() == 0);
  story.lane.state = State::held;
  story.lane.holds = 1;
  story.step();
  story.lane.state = State::paused;
  story.step(10);
  CHECK(story.held() == 10);
  story.lane.state = State::held;  // it ran, and nobody looked
  story.lane.holds = 2;
  CHECK(story.held() == 0);
  story.step(4);
  CHECK(story.held() == 3);
}

TEST_CASE("a partition that comes back starts with new counts") {
  Story story;
  story.step(50);
  story.lane.epoch = 8;
  CHECK(story.without_progress() == 0);
  story.step(3);
  CHECK(story.without_progress() == 2);
}

TEST_CASE("the rate is over the last ten seconds") {
  Story story;
  story.step();
  CHECK(story.history.rate(story.lane) == 0);
  for (int i = 0; i < 30; ++i) {
    story.lane.done += i < 15 ? 1000 : 100;
    story.step();
  }
  CHECK(story.history.rate(story.lane) == 100);
  story.step(30);
  CHECK(story.history.rate(story.lane) == 0);
}

TEST_CASE("the rate counts done records, and dead letters have their own rate") {
  Story story;
  story.step();
  for (int i = 0; i < 20; ++i) {
    story.lane.done += 3;
    story.lane.dead_letters += 40;
    story.lane.finished += 3 + 40 + 5;  // five went on to a retry topic
    story.step();
  }
  CHECK(story.history.rate(story.lane) == 3);
  CHECK(story.history.dead_letter_rate(story.lane) == 40);
}
