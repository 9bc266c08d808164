// Which records of a line leave their lane, and when, without a lane.
#include <memory>

#include "catch.h"
#include "lane/stage/one_stage.h"
#include "lane/stage/parking.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

/// A stage with two subscribers, each of which takes a record a second.
struct TwoSubscribers : StageSurroundings {
  TwoSubscribers() {
    context.parking = &forward;
    context.lanes.park_after = seconds(10);
    context.lanes.max_incomplete = 1000;
    context.memory.lane_bytes = 1 << 20;
    stage().settings.each = each;
    stage().each = &limits;
    step.parks_in = "orders-retry-10s";
    for (auto* one : {&acme, &quick})
      *one = std::make_unique<Line>(context, stage(), limits.find(one == &acme ? "acme" : "quick"),
                                    Attempts::Members{id, ledger, oldest, &step}, [] {});
  }
  void wait(Sequence sequence, std::size_t bytes = 100) {
    ledger.append(static_cast<std::int64_t>(sequence));
    acme->wait(item_of(sequence, bytes), now);
  }
  /// The rate of acme is used up, and its next record asks for it.
  void reach_limit() {
    while (acme->begin(1, now) > 0) acme->charge(1, 100, now);
    REQUIRE(acme->at_limit(now));
  }
  std::vector<Sequence> leaving(bool pool_waits = false) {
    Neighbours neighbours;
    for (const auto* one : {acme.get(), quick.get()}) neighbours.add(*one);
    std::vector<Sequence> sequences;
    for (const auto& item : Parking(context, stage(), ledger)
                                .take_leaving(*acme, neighbours, pool_waits, {100, room_bytes}, now))
      sequences.push_back(item.sequence);
    return sequences;
  }

  const config::Each each{.by = {config::Selector::Kind::key, ""}, .rate = {1, 0, seconds(1)}};
  KeyedLimits limits{"send", {.breaker = {.failures = 1, .window = seconds(30), .probe = seconds(5)}}, each};
  delivery::RetryStep step;
  std::uint64_t room_bytes = 1 << 20;
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
  wait(0);
  now += seconds(10);
  CHECK(leaving(true).empty());  // nobody else has worked: more workers are needed
  quick->note_worked(now);
  CHECK(leaving(false).empty());
  CHECK(leaving(true) == std::vector<Sequence>{0});
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
  ledger.append(0);
  auto item = item_of(0);
  item.failures = std::make_unique<handler::FailureHistory>();
  item.failures->waiting_since_ms = 1;
  acme->wait(std::move(item), now);
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
  const std::string reason = "refused";
  acme->downstream().failed({.reason = reason}, now);
  now += seconds(10);
  CHECK(leaving().empty());
  quick->note_worked(now);
  CHECK(leaving() == std::vector<Sequence>{0});
}

TEST_CASE_METHOD(TwoSubscribers, "a failed record behind another probe does not wake its lane all the time") {
  acme->attempts().put_off(item_of(0), now);
  CHECK(acme->next_attempt(now) == now);
  const std::string reason = "refused";
  acme->downstream().failed({.reason = reason}, now);
  CHECK(acme->next_attempt(now) == now + milliseconds(50));
}

TEST_CASE_METHOD(TwoSubscribers,
                 "a subscriber that is out does not stop those from which nothing has come yet") {
  for (Sequence sequence = 0; sequence < 501; ++sequence) wait(sequence);
  const std::string reason = "refused";
  acme->downstream().failed({.reason = reason}, now);
  CHECK(leaving().size() == 1);  // what is beyond half of the room
  quick->downstream().failed({.reason = reason}, now);
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
  const std::string reason = "refused";
  acme->downstream().failed({.reason = reason}, now);
  now += seconds(10);
  quick->note_worked(now);
  wait(0);
  wait(1);
  acme->attempts().put_off(acme->pop(), now);  // the next probe
  CHECK(leaving() == std::vector<Sequence>{1});
}

TEST_CASE_METHOD(TwoSubscribers,
                 "a record that comes back waits for the next probes before it is parked again") {
  const std::string reason = "refused";
  acme->downstream().failed({.reason = reason}, now);
  now += seconds(60);
  wait(0);
  acme->attempts().put_off(acme->pop(), now);  // the next probe
  auto item = item_of(1);
  item.failures = std::make_unique<handler::FailureHistory>();
  item.failures->waiting_since_ms = 1;
  acme->wait(std::move(item), now);
  now += seconds(9);
  CHECK(leaving().empty());
  now += seconds(1);
  CHECK(leaving() == std::vector<Sequence>{1});
}

TEST_CASE_METHOD(TwoSubscribers,
                 "a record that is older than the clock of the machine does not end before anybody works") {
  stage().settings.each.longest_wait = std::chrono::hours(1);
  now = TimePoint{} + std::chrono::minutes(5);
  const std::string reason = "refused";
  acme->downstream().failed({.reason = reason}, now);
  ledger.append(0);
  auto item = item_of(0);
  item.failures = std::make_unique<handler::FailureHistory>();
  item.failures->waiting_since_ms = wall_clock_ms() - 2 * 3'600'000;
  acme->wait(std::move(item), now);
  CHECK(leaving().empty());
  quick->note_worked(now);
  CHECK(leaving() == std::vector<Sequence>{0});
}
