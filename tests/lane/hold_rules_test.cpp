// Which reasons hold a lane, on the members that the rules look at, without a lane and its stages.
#include "lane/hold_rules.h"

#include <optional>

#include "catch.h"
#include "lane/simulated_partition.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

/// A running lane that may have eight unfinished records, 1000 bytes, and takes one record a second.
struct RuledLane {
  explicit RuledLane(std::uint32_t max_crashes = 0, LifeMarker before = {})
      : start{.partition = {"orders", 3}, .offset = 100, .lives = std::move(before)} {
    context.retry.max_crashes = max_crashes;
    gate.emplace(context, id, ledger, start);
    rules.emplace(HoldRules::Members{lanes, memory, state, ledger, *gate, position, rate, stats});
    lanes.max_incomplete = 8;
    memory.lane_bytes = 1000;
    state.start(now);
  }
  State update(const HoldRules::Work& work = {}) {
    rules->update(work, now);
    return state.state();
  }
  std::string held_by(const HoldRules::Cause& cause = {}) const { return rules->held_by(cause); }
  /// The lane has taken the record that its rate allows, and asks for another one.
  void use_up_rate() {
    CHECK_FALSE(rate.room(now).none());
    rate.charge(1, 0, now);
    CHECK(rate.room(now).none());
  }

  TimePoint now{seconds(1000)};
  StoredCommit start;
  config::LaneSettings lanes;
  MemoryPlan memory;
  LaneContext context;
  LaneId id{{"orders", 3}, 7};
  LaneStats stats;
  LaneState state{seconds(1)};
  Ledger ledger{100};
  std::optional<CrashGate> gate;
  SourceErrors errors{id};
  LogPosition position{id, 100, ledger, errors, stats};
  RateLimiter shared{{}};
  LaneRate rate{&shared, {1, 0, seconds(1)}};
  std::optional<HoldRules> rules;
};

}  // namespace

TEST_CASE_METHOD(RuledLane, "a lane without a reason runs") {
  CHECK(update() == State::running);
  CHECK(rules->reasons({}).empty());
  CHECK(held_by().empty());
}

TEST_CASE_METHOD(RuledLane, "max_incomplete holds a lane until more than a quarter of the records is gone") {
  const auto first = ledger.append(100, 7);
  CHECK(update() == State::running);
  ledger.append(107);
  CHECK(update() == State::held);
  CHECK(held_by() == "max_incomplete reached");
  ledger.complete(first + 1, 7);  // the window begins at the oldest unfinished record
  CHECK(update() == State::held);
  ledger.append(108, 7);
  CHECK(update() == State::held);
  ledger.complete(first);
  CHECK(ledger.window() == 7);
  CHECK(update() == State::held);
  ledger.complete(first + 8);
  CHECK(update() == State::held);
  ledger.complete(first + 9);
  CHECK(update() == State::running);
}

TEST_CASE_METHOD(RuledLane, "the share of the memory holds a lane until more than a quarter of it is free") {
  CHECK(update({.bytes = 999}) == State::running);
  CHECK(update({.bytes = 1000}) == State::held);
  CHECK(held_by() == "share of lanes.memory taken");
  CHECK(update({.bytes = 750}) == State::held);
  CHECK(update({.bytes = 749}) == State::running);
  CHECK(update({.bytes = 750}) == State::running);
}

TEST_CASE_METHOD(RuledLane, "what blocks the stages holds the lane, and ends with the block") {
  const auto reason = GENERATE(Hold::pool_full, Hold::retries_full, Hold::breaker_open, Hold::rate_limited);
  CHECK(update({.blocked = bit(reason)}) == State::held);
  CHECK(held_by() == row_of(reason).words);
  CHECK(update() == State::running);
}

TEST_CASE_METHOD(RuledLane,
                 "reasons that come at once end one by one, and are named in the order of the table") {
  const auto both = static_cast<HoldBits>(bit(Hold::pool_full) | bit(Hold::breaker_open));
  CHECK(update({.blocked = both, .bytes = 1000}) == State::held);
  CHECK(held_by() == "pool full, share of lanes.memory taken, breaker open");
  CHECK(update({.blocked = bit(Hold::breaker_open)}) == State::held);
  CHECK(held_by() == "breaker open");
  CHECK(update() == State::running);
}

TEST_CASE_METHOD(RuledLane, "a reason of another owner begins and ends only by its owner") {
  const auto reason = GENERATE(Hold::suspended, Hold::map_full);
  CHECK_FALSE(rules->set(reason, false, now));
  CHECK(rules->set(reason, true, now));
  CHECK_FALSE(rules->set(reason, true, now));
  CHECK(stats.state.get() == State::held);
  CHECK(stats.hold_bits.get() == bit(reason));
  CHECK(update() == State::held);
  CHECK(held_by() == row_of(reason).words);
  CHECK(rules->set(reason, false, now));
  CHECK(stats.state.get() == State::running);
  CHECK(stats.hold_bits.get() == 0);
}

TEST_CASE_METHOD(RuledLane, "a change of the state is written to the stats at once") {
  rules->show();
  CHECK(stats.state.get() == State::running);
  update({.bytes = 1000});
  CHECK(stats.state.get() == State::held);
  CHECK(stats.hold_bits.get() == bit(Hold::memory_full));
  update();
  CHECK(stats.state.get() == State::running);
  CHECK(stats.hold_bits.get() == 0);
}

TEST_CASE_METHOD(RuledLane, "a position in doubt and a corrupt batch hold the lane, each in its own words") {
  Partition partition;
  SimulatedSource source(partition);
  if (GENERATE(true, false)) {
    (void)position.follows(source, 5, false, now);
    CHECK(update() == State::held);
    CHECK(held_by() == "position in doubt");
  } else {
    position.on_corrupt(source, 100, "is corrupt", now);
    CHECK(update() == State::held);
    CHECK(held_by() == "corrupt records");
  }
}

TEST_CASE_METHOD(RuledLane, "a lane that waits for its rate is held until the next record may come") {
  CHECK(update() == State::running);  // it has not asked yet
  use_up_rate();
  CHECK(update() == State::held);
  CHECK(held_by() == "rate limit");
  now += milliseconds(999);
  CHECK(update() == State::held);
  now += milliseconds(1);
  CHECK(update() == State::running);
}

TEST_CASE_METHOD(RuledLane, "a lane that is held anyhow waits for its rate only if a record is due") {
  use_up_rate();
  CHECK(update({.bytes = 1000, .due = true}) == State::held);
  CHECK(held_by() == "share of lanes.memory taken, rate limit");
  CHECK(update({.bytes = 1000}) == State::held);
  CHECK(held_by() == "share of lanes.memory taken");
  CHECK(update() == State::running);  // it has left its turn, and has to ask again
}

TEST_CASE_METHOD(RuledLane, "a lane whose memory and rate are used up at once does not wait for its rate") {
  use_up_rate();
  CHECK(update({.bytes = 1000}) == State::held);
  CHECK(held_by() == "share of lanes.memory taken");
}

TEST_CASE_METHOD(RuledLane, "a pace that the downstream has asked for is the downstream's reason") {
  use_up_rate();
  update();
  const auto reason = [&](const HoldRules::Cause& cause) { return rules->reasons(cause).at(0); };
  CHECK(reason({}).cause == HoldCause::limit);
  CHECK(reason({.keeps_pace = true}).cause == HoldCause::downstream);  // the pace of one stage
  CHECK(reason({.keeps_pace = true}).words == "rate limit");
  shared.throttled(seconds(5), false, now);
  CHECK(reason({}).cause == HoldCause::downstream);
  CHECK(reason({}).words == "the downstream asks for fewer calls");
  CHECK(reason({}).code == "rate_limited");
}

TEST_CASE("a full pool is explained by what keeps its records from beginning") {
  const HoldRules::Work full{.blocked = bit(Hold::pool_full)};
  RuledLane first_life(3);
  first_life.update(full);
  CHECK(first_life.held_by() == "waits for its first commit");
  first_life.gate->drain();
  CHECK(first_life.held_by() == "pool full");
  CHECK(first_life.held_by({.waits_for_memory = true}) == "no memory for further results");
  RuledLane careful(3, {.lives = 2});
  careful.update(full);
  CHECK(careful.held_by({.waits_for_memory = true}) == "a few records at a time");
}

TEST_CASE_METHOD(RuledLane, "a lane that drains is not held again") {
  state.drain(now);
  CHECK(update({.blocked = bit(Hold::pool_full), .bytes = 1000}) == State::draining);
}
