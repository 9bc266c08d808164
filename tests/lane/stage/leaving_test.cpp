// Which records of a line leave their lane, and when, without a lane.
#include <memory>

#include "catch.h"
#include "lane/stage/one_stage.h"
#include "lane/stage/parking.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

using std::chrono::hours;
using std::chrono::minutes;

/// A stage with two subscribers, each of which takes a record a second.
struct TwoSubscribers : StageSurroundings {
  TwoSubscribers() {
    context.parking = &forward;
    context.lanes.park_after = seconds(10);
    context.lanes.max_incomplete = 1000;
    context.memory.lane_bytes = 1 << 20;
    stage().settings.each = each;
    step.parks_in = "orders-retry-10s";
    make_lines();
  }
  void make_lines() {
    stage().each = limits.get();
    for (auto* one : {&acme, &quick})
      *one = std::make_unique<Line>(context, stage(), limits->find(one == &acme ? "acme" : "quick"),
                                    Attempts::Members{id, ledger, oldest, &step}, [] {});
  }
  void wait(Sequence sequence, std::size_t bytes = 100) {
    ledger.append(static_cast<std::int64_t>(sequence));
    acme->wait(item_of(sequence, bytes), now);
  }
  /// The rate of acme is used up, and its next record asks for it.
  void reach_limit() {
    while (acme->begin(1, now) > 0) acme->charge(1, 100, now);
    REQUIRE(acme->at_own_limit(now));
  }
  std::vector<Sequence> leaving(bool pool_full = false) {
    Neighbours neighbours;
    for (const auto* one : {acme.get(), quick.get()}) neighbours.add(*one);
    std::vector<Sequence> sequences;
    for (const auto& item : Parking(context, stage(), ledger)
                                .take_leaving(*acme, neighbours, pool_full, {100, room_bytes}, now)) {
      sequences.push_back(item.sequence);
      route = item.route();
    }
    return sequences;
  }
  /// A record that was parked when the machine's clock began, or before.
  void wait_again(Sequence sequence, std::int64_t since_ms = 1) {
    ledger.append(static_cast<std::int64_t>(sequence));
    auto item = item_of(sequence);
    item.failures = std::make_unique<handler::FailureHistory>();
    item.failures->waiting_since_ms = since_ms;
    acme->wait(std::move(item), now);
  }
  void fail(Line& one) {
    const std::string reason = "refused";
    one.downstream().failed({.reason = reason}, now);
    one.note_failed(false, now);
  }

  const config::Each each{.by = {config::Selector::Kind::key, ""}, .rate = {1, 0, seconds(1)}};
  std::unique_ptr<KeyedLimits> limits = std::make_unique<KeyedLimits>(
      "send", DownstreamRules{.breaker = {.failures = 1, .window = seconds(30), .probe = seconds(5)}}, each);
  delivery::RetryStep step;
  std::uint64_t room_bytes = 1 << 20;
  handler::Route route{};  ///< of the last one that has left
  std::unique_ptr<Line> acme, quick;
};

}  // namespace

TEST_CASE_METHOD(TwoSubscribers,
                 "records of a subscriber at its limit leave once they have waited for long") {
  for (Sequence sequence = 0; sequence < 3; ++sequence) wait(sequence);
  reach_limit();
  quick->note_worked(now + seconds(1));
  now += seconds(9);
  reach_limit();
  CHECK(leaving().empty());
  now += seconds(1);
  reach_limit();
  CHECK(leaving() == std::vector<Sequence>{0, 1, 2});
}

TEST_CASE_METHOD(TwoSubscribers,
                 "records leave a pool whose workers are used up while others have nothing to do") {
  stage().settings.each.longest_wait = seconds(1);
  wait(0);
  now += seconds(10);
  CHECK(leaving(true).empty());  // nobody else has worked: more workers are needed
  quick->note_worked(now);
  CHECK(leaving(false).empty());
  CHECK(leaving(true) == std::vector<Sequence>{0});
  CHECK(route == handler::Route::parked);  // longest_wait is for the limits of a subscriber
}

TEST_CASE_METHOD(
    TwoSubscribers,
    "records of a subscriber at its limit leave before they use half of the room of their lane") {
  quick->note_worked(now);
  for (Sequence sequence = 0; sequence < 500; ++sequence) wait(sequence);
  reach_limit();
  CHECK(leaving().empty());
  for (Sequence sequence = 500; sequence < 503; ++sequence) wait(sequence);
  CHECK(leaving() == std::vector<Sequence>{0, 1, 2});
}

TEST_CASE_METHOD(TwoSubscribers, "a record that is too large to leave does not keep those behind it") {
  wait(0, 1'000'000);
  wait(1);
  reach_limit();
  quick->note_worked(now);
  now += seconds(10);
  reach_limit();
  CHECK(leaving() == std::vector<Sequence>{1});
  CHECK(acme->backlog().size() == 1);
}

TEST_CASE_METHOD(TwoSubscribers, "records that fill a lane leave although those of others come behind them") {
  quick->note_worked(now);
  now += seconds(40);
  wait(0);
  reach_limit();
  now += seconds(10);
  reach_limit();
  CHECK(leaving() == std::vector<Sequence>{0});

  now += seconds(11);  // nobody else has worked lately: more capacity is needed, and no topic would help
  wait(1);
  now += seconds(10);
  reach_limit();
  CHECK(leaving().empty());
}

TEST_CASE_METHOD(TwoSubscribers, "records that come back to a subscriber at its limit stay for their turn") {
  wait_again(0);
  reach_limit();
  now += seconds(10);
  reach_limit();
  quick->downstream().worked(1, milliseconds(1), now);  // in another lane
  CHECK(leaving().empty());
  quick->note_worked(now);
  CHECK(leaving() == std::vector<Sequence>{0});
}

TEST_CASE_METHOD(TwoSubscribers, "records of a subscriber that is out stay unless others work meanwhile") {
  quick->note_worked(now);
  now += seconds(1);
  wait(0);
  fail(*acme);
  now += seconds(10);
  CHECK(leaving().empty());
  quick->note_worked(now);
  CHECK(leaving() == std::vector<Sequence>{0});
}

TEST_CASE_METHOD(TwoSubscribers, "a failed record behind another probe does not wake its lane all the time") {
  acme->attempts().put_off(item_of(0), now);
  CHECK(acme->next_attempt(now) == now);
  fail(*acme);
  CHECK(acme->next_attempt(now) == now + milliseconds(50));
}

TEST_CASE_METHOD(TwoSubscribers,
                 "a subscriber that is out does not stop those from which nothing has come yet") {
  for (Sequence sequence = 0; sequence < 501; ++sequence) wait(sequence);
  fail(*acme);
  CHECK(leaving().size() == 1);  // what is beyond half of the room
  fail(*quick);
  wait(501);
  CHECK(leaving().empty());  // the fault may be on this side
}

TEST_CASE_METHOD(TwoSubscribers, "no more bytes leave at a time than there is room for") {
  for (Sequence sequence = 0; sequence < 20; ++sequence) wait(sequence, 1000);
  reach_limit();
  quick->note_worked(now);
  now += seconds(10);
  reach_limit();
  room_bytes = 3500;
  CHECK(leaving().size() == 4);
}

TEST_CASE_METHOD(TwoSubscribers,
                 "a sub-job that a drain leaves before it came to its line waits since the drain") {
  auto item = item_of(0);
  const auto before = wall_clock_ms();
  acme->attempts().park(item, now);
  CHECK(item.failures->waiting_since_ms >= before);
}

TEST_CASE_METHOD(TwoSubscribers, "a lane that is new knows since when a subscriber has been out") {
  fail(*acme);
  now += seconds(10);
  quick->note_worked(now);
  wait(0);
  wait(1);
  acme->attempts().put_off(acme->pop(), now);  // the next probe
  CHECK(leaving() == std::vector<Sequence>{1});
}

TEST_CASE_METHOD(TwoSubscribers,
                 "a record that comes back waits for the next probes before it is parked again") {
  fail(*acme);
  now += seconds(60);
  wait(0);
  acme->attempts().put_off(acme->pop(), now);  // the next probe
  wait_again(1);
  now += seconds(9);
  CHECK(leaving().empty());
  now += seconds(1);
  CHECK(leaving() == std::vector<Sequence>{1});
}

TEST_CASE_METHOD(TwoSubscribers,
                 "a record that is older than the clock of the machine does not end before others work") {
  stage().settings.each.longest_wait = hours(1);
  now = TimePoint{} + minutes(5);
  fail(*acme);
  wait_again(0, wall_clock_ms() - 2 * 3'600'000);
  CHECK(leaving().empty());
  quick->note_worked(now);
  now += seconds(9);
  CHECK(leaving().empty());
  now += PoolOutages::proof - seconds(9);
  quick->note_worked(now);
  CHECK(leaving() == std::vector<Sequence>{0});
  CHECK(route == handler::Route::dead_letter);
}

TEST_CASE_METHOD(TwoSubscribers, "old records of a subscriber that is out for a moment are tried first") {
  stage().settings.each.longest_wait = hours(24);
  quick->note_worked(now);
  now += hours(2);
  fail(*acme);
  const auto pass = [this](Duration time) {
    now += time;
    quick->note_worked(now);
  };
  pass(seconds(1));
  wait_again(0);
  pass(PoolOutages::proof - seconds(2));
  REQUIRE(leaving() == std::vector<Sequence>{0});
  CHECK(route == handler::Route::parked);
  pass(seconds(1));
  wait_again(1);
  CHECK(leaving() == std::vector<Sequence>{1});
  CHECK(route == handler::Route::dead_letter);
}

TEST_CASE_METHOD(TwoSubscribers, "a subscriber that works again has an hour for what has waited") {
  stage().settings.each.longest_wait = hours(24);
  quick->note_worked(now);
  now += hours(2);
  SECTION("after an outage") {
    fail(*acme);
    now += hours(1);
    acme->downstream().change({.breaker = {.failures = 0}}, now);  // closes the breaker
    REQUIRE(acme->downstream().closed());
  }
  SECTION("after a start") {
    acme.reset();
    quick.reset();
    limits = std::make_unique<KeyedLimits>("send", DownstreamRules{.breaker = {.failures = 0}}, each);
    make_lines();
    quick->note_worked(now);
  }
  const auto back = now;
  const auto come_back = [this](Sequence sequence) {
    wait_again(sequence);
    reach_limit();
    acme->note_at_work(now);
    now += seconds(10);
    quick->note_worked(now);
    reach_limit();
    acme->note_at_work(now);
    CHECK(leaving() == std::vector<Sequence>{sequence});
  };
  for (Sequence sequence = 0; sequence < 6; ++sequence) {
    come_back(sequence);
    CHECK(route == handler::Route::parked);
    now += minutes(10) - seconds(10);
  }
  REQUIRE(now == back + hours(1));
  come_back(6);
  CHECK(route == handler::Route::dead_letter);
}

TEST_CASE_METHOD(TwoSubscribers,
                 "what has waited for its limit is given up, and not what waited for workers") {
  stage().settings.each = {.by = each.by, .rate = {}, .workers = 1, .longest_wait = seconds(10)};
  limits->change({.breaker = {.failures = 0}}, stage().settings.each, now);
  context.parking = nullptr;
  wait(0);
  const bool with_worker = GENERATE(false, true);
  const auto pass = [&](Duration time, bool runs) {
    for (const auto end = now + time; now < end; now += milliseconds(50)) {
      quick->note_worked(now);
      if (runs) acme->count_at_work(1);
      acme->note_at_work(now);
    }
  };
  quick->note_worked(now);
  REQUIRE(acme->begin(1, now) == 1);
  acme->entered(1);
  REQUIRE(acme->begin(1, now) == 0);  // the only place is taken
  pass(seconds(11), with_worker);
  CHECK(leaving().size() == (with_worker ? 1 : 0));
  if (with_worker) return;
  pass(seconds(9), true);
  CHECK(leaving().empty());  // its own limit has kept the record for a shorter time
  pass(seconds(6), true);
  CHECK(leaving().size() == 1);
}
