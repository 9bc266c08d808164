// What the records of a downstream or of a subscriber may do, without a stage and its pool.
#include "lane/stage/line.h"

#include <memory>

#include "catch.h"
#include "lane/batch/work_batch.h"
#include "lane/stage/one_stage.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

/// A stage with a breaker and a rate of three records a second; retry.max_waiting is four.
struct StageWithLines {
  StageWithLines() {
    context.retry.max_waiting = 4;
    stage.downstream = &downstream;
    stage.rate = &rate;
  }
  std::unique_ptr<Line> make(std::shared_ptr<KeyedLimit> of = nullptr) {
    return std::make_unique<Line>(context, stage, std::move(of),
                                  Attempts::Members{id, ledger, oldest, nullptr}, [] {});
  }
  /// A subscriber whose records run three at a time.
  std::shared_ptr<KeyedLimit> subscriber(config::Rate its_rate = {}) const {
    const config::Each each{.by = {}, .rate = its_rate, .workers = 3};
    return std::make_shared<KeyedLimit>("acme", "send acme", rules, each);
  }
  void open_breaker(Downstream& of) const { of.failed({.reason = reason}, now); }
  /// The record waits until the breaker lets it begin.
  void withhold(Line& line, Sequence sequence) {
    auto outcome = handler::Outcome::unavailable({});
    outcome.cause = handler::Cause::withheld;
    CHECK_FALSE(line.attempts().fail(item_of(sequence), outcome, {}, now));
  }
  void put_off(Line& line, Sequence first, Sequence end) {
    for (auto sequence = first; sequence < end; ++sequence) line.attempts().put_off(item_of(sequence), now);
  }

  const std::string reason = "refused";
  const DownstreamRules rules{.breaker = {.failures = 1, .window = seconds(30), .probe = seconds(5)}};
  TimePoint now{seconds(1000)};
  LaneContext context;
  StageContext stage;
  Downstream downstream{"shop", rules};
  RateLimiter rate{{3, 0, seconds(1)}};
  LaneId id{{"orders", 3}, 7};
  Ledger ledger{0};
  LaneState state{seconds(1)};
  LaneStats stats;
  OldestWatch oldest{{context.lanes, context.ledger, downstream, id, ledger, state, stats}, false};
};

}  // namespace

TEST_CASE_METHOD(StageWithLines, "a line of a subscriber has the downstream and the rate of its subscriber") {
  const auto plain = make();
  CHECK(&plain->downstream() == &downstream);
  CHECK(plain->rate() == &rate);
  CHECK(plain->subscriber() == nullptr);
  const auto acme = subscriber();
  const auto of_acme = make(acme);
  CHECK(&of_acme->downstream() == &acme->downstream);
  CHECK(of_acme->rate() == &acme->rate);
  CHECK(of_acme->adaptive() == nullptr);
  CHECK(of_acme->subscriber() == acme.get());
}

// What blocks a line

TEST_CASE_METHOD(StageWithLines,
                 "retry.max_waiting waiting records block a line until more than a quarter has gone") {
  const auto line = make();
  put_off(*line, 0, 3);
  CHECK(line->blocked_by() == 0);
  put_off(*line, 3, 4);
  CHECK(line->blocked_by() == bit(Hold::retries_full));
  (void)line->attempts().pop(now, false);
  CHECK(line->blocked_by() == bit(Hold::retries_full));
  (void)line->attempts().pop(now, false);
  CHECK(line->blocked_by() == 0);
  put_off(*line, 4, 5);
  CHECK(line->blocked_by() == 0);
}

TEST_CASE_METHOD(StageWithLines,
                 "a line with a record that the breaker withholds is blocked by the breaker") {
  const auto line = make();
  withhold(*line, 0);
  CHECK(line->blocked_by() == 0);
  open_breaker(downstream);
  CHECK(line->blocked_by() == bit(Hold::breaker_open));
  CHECK(line->breaker_holds());
  CHECK_FALSE(line->asks_new());
  put_off(*line, 1, 4);
  CHECK(line->blocked_by() == (bit(Hold::breaker_open) | bit(Hold::retries_full)));
}

TEST_CASE_METHOD(StageWithLines,
                 "while only failed records wait, new ones may probe a downstream that is out") {
  const auto line = make();
  put_off(*line, 0, 10);
  CHECK(line->blocked_by() == bit(Hold::retries_full));
  CHECK_FALSE(line->asks_new());
  open_breaker(downstream);
  CHECK(line->asks_new());
  CHECK_FALSE(line->breaker_holds());
  CHECK(line->blocked_by() == 0);
}

TEST_CASE_METHOD(StageWithLines, "a subscriber that is out blocks its own line only") {
  const auto plain = make();
  const auto acme = subscriber();
  const auto of_acme = make(acme);
  withhold(*plain, 0);
  withhold(*of_acme, 1);
  open_breaker(acme->downstream);
  CHECK(plain->blocked_by() == 0);
  CHECK(of_acme->blocked_by() == bit(Hold::breaker_open));
}

// How many records may begin

TEST_CASE_METHOD(StageWithLines, "as many records begin as the rate of the stage allows, and more in time") {
  const auto line = make();
  for (Sequence sequence = 0; sequence < 10; ++sequence) line->wait(item_of(sequence), now);
  CHECK(line->begin(2, now) == 2);
  CHECK(line->begin(10, now) == 3);  // none was charged
  line->charge(3, 0, now);
  CHECK(line->begin(10, now) == 0);
  CHECK(line->rate_waits(now));
  CHECK(line->rate_ready_at(now) > now);
  now += seconds(1);
  CHECK(line->begin(10, now) == 3);
}

TEST_CASE_METHOD(StageWithLines, "failed records use up the same rate") {
  const auto line = make();
  CHECK(line->begin_failed(now));
  line->charge_failed(0, now);
  line->leave_failed(now);
  CHECK(line->begin(10, now) == 2);
}

TEST_CASE_METHOD(StageWithLines, "a line without a backlog leaves its share of the rate to the others") {
  const auto line = make();
  const auto other = make();
  CHECK(line->begin(10, now) == 3);
  CHECK(other->begin(10, now) == 0);
  if (GENERATE(true, false))
    line->charge(1, 0, now);
  else
    line->leave_new(now);
  CHECK(other->begin(10, now) >= 2);
}

TEST_CASE_METHOD(StageWithLines, "a line with a backlog keeps its share of the rate") {
  const auto line = make();
  line->wait(item_of(0), now);
  CHECK(line->begin(10, now) == 3);
  line->charge(1, 0, now);
  CHECK(make()->begin(10, now) == 0);
  CHECK(line->begin(10, now) == 2);
}

TEST_CASE_METHOD(StageWithLines,
                 "a line has no rate of its own if the intake of the lane keeps the same rate") {
  context.rate = &rate;
  const auto line = make();
  CHECK(line->begin(10, now) == 10);
  line->charge(10, 0, now);
  CHECK(line->begin(10, now) == 10);
  CHECK_FALSE(line->rate_waits(now));
  CHECK(line->rate_ready_at(now) == now);
}

TEST_CASE_METHOD(StageWithLines,
                 "at the pace of a downstream, failed records leave every second turn to new ones") {
  const auto line = make();
  line->took_failed();
  line->wait(item_of(0), now);
  CHECK_FALSE(line->leaves_turn_to_new());  // there is no pace
  rate.throttled({}, false, now);
  CHECK(line->leaves_turn_to_new());
  (void)line->pop();
  CHECK_FALSE(line->leaves_turn_to_new());  // there is no new record
  line->wait(item_of(1), now);
  line->charge(1, 0, now);
  CHECK_FALSE(line->leaves_turn_to_new());
  line->took_failed();
  CHECK(line->leaves_turn_to_new());
}

TEST_CASE_METHOD(StageWithLines,
                 "as many records of a subscriber begin as it has places, in all lanes together") {
  const auto acme = subscriber();
  const auto line = make(acme);
  const auto of_other_lane = make(acme);
  CHECK(line->begin(2, now) == 2);
  CHECK(line->begin(2, now) == 2);  // the same places, which no record has taken
  CHECK(acme->places.running() == 2);
  CHECK(of_other_lane->begin(5, now) == 1);
  line->entered(2);
  CHECK(line->begin(2, now) == 0);
  CHECK(acme->places.running() == 3);
  line->ended(1);
  CHECK(line->begin(2, now) == 0);  // the other lane has asked before
  CHECK(of_other_lane->begin(5, now) == 2);
  line->ended(1);
  CHECK(line->begin(2, now) == 1);
}

TEST_CASE_METHOD(StageWithLines, "a place that no record has taken is given back") {
  const auto acme = subscriber();
  const auto line = make(acme);
  CHECK(line->begin_failed(now));
  line->leave_failed(now);
  CHECK(acme->places.running() == 0);
  CHECK(line->begin(2, now) == 2);
  line->entered(1);
  line->give_back();
  CHECK(acme->places.running() == 1);
}

TEST_CASE_METHOD(StageWithLines,
                 "records that come back take places of their subscriber, even if none is free") {
  const auto acme = subscriber();
  const auto line = make(acme);
  CHECK(line->begin(1, now) == 1);
  line->entered(5);
  CHECK(acme->places.running() == 5);
  CHECK(line->begin(1, now) == 0);
  line->ended(3);
  CHECK(line->begin(5, now) == 1);
}

TEST_CASE_METHOD(StageWithLines,
                 "a line that ends gives back the places of its records, and those that it had reserved") {
  const auto acme = subscriber();
  auto line = make(acme);
  CHECK(line->begin(2, now) == 2);
  line->entered(1);
  CHECK(acme->places.running() == 2);
  line.reset();
  CHECK(acme->places.running() == 0);
}

TEST_CASE_METHOD(StageWithLines, "no place of a subscriber is taken while its rate allows nothing") {
  const auto acme = subscriber({2, 0, seconds(1)});
  const auto line = make(acme);
  line->wait(item_of(0), now);
  CHECK(line->begin(5, now) == 2);
  line->entered(2);
  line->charge(2, 0, now);
  CHECK(line->begin(1, now) == 0);
  CHECK(acme->places.running() == 2);
}

// The backlog

TEST_CASE_METHOD(StageWithLines, "the backlog keeps the order of its records, and counts their memory") {
  const auto line = make();
  CHECK(line->bytes() == 0);
  line->wait(item_of(4, 100), now);
  line->wait(item_of(5, 20), now);
  CHECK(line->bytes() == 2 * record_overhead + 120);
  CHECK(line->pop().sequence == 4);
  CHECK(line->bytes() == record_overhead + 20);
  CHECK(line->pop().sequence == 5);
  CHECK(line->bytes() == 0);
  line->wait(item_of(6, 100), now);
  line->clear_backlog();
  CHECK(line->backlog().empty());
  CHECK(line->bytes() == 0);
}

TEST_CASE_METHOD(StageWithLines, "a record in a backlog knows since when it waits") {
  const auto line = make();
  line->wait(item_of(0), now);
  CHECK(line->backlog().front().arrived == now);
}

TEST_CASE_METHOD(StageWithLines, "a line is unused while no record of its subscriber waits or runs") {
  const auto line = make(subscriber());
  CHECK(line->unused());
  line->wait(item_of(0), now);
  CHECK_FALSE(line->unused());
  (void)line->pop();
  CHECK(line->unused());
  put_off(*line, 1, 2);
  CHECK_FALSE(line->unused());
  (void)line->attempts().pop(now, false);
  CHECK(line->unused());
  CHECK(line->begin(1, now) == 1);
  line->entered(1);
  CHECK_FALSE(line->unused());
  line->ended(1);
  CHECK(line->unused());
}
