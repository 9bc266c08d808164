// What follows a failed attempt, for each event of the table of a record's life, without a lane.
#include "lane/attempts/attempts.h"

#include "captured_log.h"
#include "catch.h"
#include "lane/answers.h"
#include "lane/batch/work_batch.h"
#include "lane/state/record_life.h"

using namespace laneway;
using namespace laneway::lane;
using delivery::DeadLetterReason;
using handler::Outcome;
using handler::Route;

namespace {

const delivery::RetryStep leads_to_retry_topic{.source = "orders", .next = "orders-retry-1m"};
const delivery::RetryStep last_retry_topic{.source = "orders", .next = {}, .delay = seconds(60)};

/// The attempts at the records of a partition, of which ten have been taken.
struct Attempted {
  explicit Attempted(const delivery::RetryStep* step = nullptr, bool limit_adapts = false)
      : oldest({context.lanes, context.ledger, downstream, id, ledger, state, stats},
               step != nullptr && step->delayed()) {
    context.stages.resize(1);
    context.stages.front().downstream = &downstream;
    context.forward = &forward;
    context.retry.attempts = 3;
    context.retry.backoff = milliseconds(100);
    context.retry.max_backoff = std::chrono::hours(1);
    ledger.append(0, 10);
    attempts.emplace(context, downstream, limit_adapts, Attempts::Members{id, ledger, oldest, step});
  }

  static handler::Item record(std::int64_t offset = 0, Route route = Route::work) {
    kafka::RecordData data;
    data.topic = "orders";
    data.partition = 3;
    data.offset = offset;
    data.timestamp = wall_clock_ms();
    data.value = std::string(100, 'x');
    handler::Item item;
    item.record = kafka::Record(data);
    item.sequence = static_cast<Sequence>(offset);
    if (route == Route::work) return item;
    item.failures = std::make_unique<handler::FailureHistory>();
    item.failures->route = route;
    item.failures->reason = "HTTP 500";
    return item;
  }
  std::optional<handler::Item> fail(handler::Item item, const Outcome& outcome) {
    return attempts->fail(std::move(item), outcome, milliseconds(1), now);
  }
  /// The record that waits, after its delay; it has failed or was withheld.
  handler::Item after_its_delay() {
    REQUIRE(attempts->next_due());
    now = std::max(now, *attempts->next_due());
    auto item = attempts->pop_unwritten(now);
    if (!item) item = attempts->pop(now, false);
    REQUIRE(item);
    return std::move(*item);
  }
  std::size_t waiting() const { return attempts->waiting().size(); }
  /// Other records fail, until the downstream is out.
  void break_down() {
    const std::string reason = "HTTP 503";
    for (delivery::RecordId other = 1000; downstream.closed(); ++other)
      downstream.failed({.record = other, .reason = reason}, now);
  }

  struct Nowhere final : handler::Handler {
    std::string name() const override { return "nowhere"; }
    void handle(handler::Task /*task*/) noexcept override {}
  };
  const CapturedLog log;
  Nowhere forward;
  LaneContext context;
  Downstream downstream{"shop", {.breaker = {.failures = 5}}};
  LaneId id{{"orders", 3}, 7};
  Ledger ledger{0};
  LaneStats stats;
  LaneState state{seconds(10)};
  OldestWatch oldest;
  std::optional<Attempts> attempts;
  TimePoint now = SteadyClock::now();
};

/// A row of the table: the answer to a record, what has happened then, and who has the record.
struct Answered {
  const char* what = "";
  Outcome answer{};
  RecordEvent event{};
  RecordOwner owner{};
  Route before = Route::work;
  Route route = Route::work;
  std::uint32_t next_attempt = 1;
  std::uint32_t attempt = 1;
};

std::vector<Answered> answers() {
  using E = RecordEvent;
  using O = RecordOwner;
  return {
      {"retry", Outcome::retry("no"), E::failed, O::attempts, Route::work, Route::work, 2},
      {"unavailable", Outcome::unavailable("out"), E::failed, O::attempts},
      {"throttled", throttled(), E::failed, O::attempts},
      {"local", Outcome::local("no descriptors"), E::failed, O::attempts},
      {"withheld", withheld(), E::withheld, O::attempts},
      {"rejected", Outcome::reject("bad"), E::given_up, O::stage, Route::work, Route::dead_letter},
      {"retry topic is out", Outcome::unavailable("no broker"), E::not_written, O::attempts,
       Route::retry_topic, Route::retry_topic},
      {"retry topic refuses", Outcome::reject("too large"), E::given_up, O::stage, Route::retry_topic,
       Route::dead_letter},
      {"dead-letter topic is out", Outcome::unavailable("no broker"), E::not_written, O::attempts,
       Route::dead_letter, Route::dead_letter},
      {"dead-letter topic refuses", Outcome::reject("too large"), E::not_written, O::attempts,
       Route::dead_letter, Route::dead_letter},
  };
}

std::int64_t milliseconds_until(TimePoint due, TimePoint now) {
  return std::chrono::duration_cast<milliseconds>(due - now).count();
}

}  // namespace

TEST_CASE("a failed record waits in Attempts or goes back to its stage, as the table says") {
  for (const auto& row : answers()) {
    INFO(row.what);
    CHECK(after(RecordState::running, row.event).owner == row.owner);
    Attempted test;
    auto next = test.fail(Attempted::record(0, row.before), row.answer);
    CHECK(next.has_value() == (row.owner == RecordOwner::stage));
    CHECK(test.waiting() == (row.owner == RecordOwner::attempts ? 1 : 0));
    CHECK(test.attempts->bytes() == (next ? 0 : 100 + record_overhead));
    CHECK(test.ledger.is_incomplete(0));
    const auto item = next ? std::move(*next) : test.after_its_delay();
    CHECK(item.route() == row.route);
    CHECK(item.attempt == row.next_attempt);
    CHECK(item.record.raw_value());
    CHECK(test.attempts->bytes() == 0);
  }
}

TEST_CASE("a record without attempts left goes to its retry topic, or to the dead-letter topic") {
  const auto* step = GENERATE(static_cast<const delivery::RetryStep*>(nullptr), &leads_to_retry_topic);
  Attempted test(step);
  auto item = Attempted::record();
  for (std::uint32_t attempt = 1; attempt < 3; ++attempt) {
    CHECK(item.attempt == attempt);
    REQUIRE_FALSE(test.fail(std::move(item), Outcome::retry("no")));
    item = test.after_its_delay();
    CHECK(test.attempts->begins(item, test.now));
  }
  const auto given_up = test.fail(std::move(item), Outcome::retry("still no"));
  REQUIRE(given_up);
  CHECK(given_up->route() == (step == nullptr ? Route::dead_letter : Route::retry_topic));
  CHECK(given_up->failures->given_up == DeadLetterReason::attempts_exhausted);
  CHECK(given_up->failures->reason == "still no");
  CHECK(given_up->attempt == 3);
  CHECK(test.waiting() == 0);
}

TEST_CASE("a rejected record goes to the dead-letter topic although a retry topic follows") {
  Attempted test(&leads_to_retry_topic);
  const auto given_up = test.fail(Attempted::record(), Outcome::reject("bad"));
  REQUIRE(given_up);
  CHECK(given_up->route() == Route::dead_letter);
  CHECK(given_up->failures->given_up == DeadLetterReason::rejected);
}

TEST_CASE("without a dead-letter topic a record waits after each failure") {
  Attempted test;
  test.context.forward = nullptr;
  test.attempts->follow_settings();
  for (const auto& answer : {Outcome::retry("no"), Outcome::reject("bad")}) {
    auto item = Attempted::record();
    for (std::uint32_t attempt = 1; attempt < 10; ++attempt) {
      CHECK(item.attempt == attempt);
      REQUIRE_FALSE(test.fail(std::move(item), answer));
      item = test.after_its_delay();
    }
    CHECK(item.route() == Route::work);
  }
}

TEST_CASE("more rejections than dead_letter.max_rate allows wait instead of going to the dead-letter topic") {
  Attempted test;
  test.downstream.change({.breaker = {.failures = 5}, .most_rejections = 1}, test.now);
  int letters = 0;
  while (test.fail(Attempted::record(), Outcome::reject("bad"))) ++letters;
  CHECK(letters == 60);
  CHECK(test.waiting() == 1);
  CHECK(test.after_its_delay().route() == Route::work);
}

TEST_CASE("a failed record is due after its delay, and a withheld record at once") {
  Attempted test;
  test.fail(Attempted::record(0), Outcome::retry("no", seconds(7)));
  CHECK_FALSE(test.attempts->due(test.now + seconds(7) - nanoseconds(1)));
  CHECK_FALSE(test.attempts->pop(test.now + seconds(7) - nanoseconds(1), false));
  CHECK(test.attempts->due(test.now + seconds(7)));
  test.fail(Attempted::record(1), withheld());
  CHECK(test.attempts->due(test.now));
  auto item = test.attempts->pop(test.now, false);
  REQUIRE(item);
  CHECK(item->sequence == 1);
  CHECK_FALSE(item->failures);
  CHECK(test.attempts->begins(*item, test.now));
  CHECK(test.waiting() == 1);
}

TEST_CASE("a drain drops the waiting records and keeps what is known of them until another log begins") {
  Attempted test;
  test.fail(Attempted::record(0), Outcome::retry("no"));
  test.fail(Attempted::record(1), withheld());
  CHECK(test.attempts->skip(2, "not wanted").answer == Skip::when_it_fails);
  test.attempts->clear();
  CHECK(test.waiting() == 0);
  CHECK(test.attempts->bytes() == 0);
  CHECK_FALSE(test.attempts->next_due());
  CHECK(test.ledger.incomplete() == 10);
  Suspects::Seen seen;
  test.attempts->see_suspects(seen);
  CHECK(seen == Suspects::Seen{{0, true}});
  CHECK(test.fail(Attempted::record(2), Outcome::retry("no")));
  test.attempts->start_over();
  CHECK_FALSE(test.fail(Attempted::record(2), Outcome::retry("no")));
}

TEST_CASE("each throttled answer in a row doubles the delay, but an adaptive limit keeps the delay short") {
  const bool adapts = GENERATE(false, true);
  Attempted test(nullptr, adapts);
  auto item = Attempted::record();
  std::int64_t delay = 0;
  for (int i = 0; i < 10; ++i) {
    REQUIRE_FALSE(test.fail(std::move(item), throttled()));
    delay = milliseconds_until(*test.attempts->next_due(), test.now);
    item = test.after_its_delay();
    CHECK(test.attempts->begins(item, test.now));
  }
  CHECK(item.attempt == 1);
  CHECK((adapts ? delay <= 100 << 4 : delay >= 100 << 8));
  CHECK_FALSE(test.fail(std::move(item), Outcome::retry("no")));
  item = test.after_its_delay();
  CHECK_FALSE(test.fail(std::move(item), throttled()));
  CHECK(milliseconds_until(*test.attempts->next_due(), test.now) <= 100);
}

TEST_CASE("a record that fails while the downstream works is a suspect, and an outage excuses a record") {
  Attempted test;
  const bool out = GENERATE(false, true);
  if (out) test.break_down();
  test.fail(Attempted::record(4), Outcome::retry("no"));
  test.fail(Attempted::record(5), Outcome::unavailable("out"));
  test.fail(Attempted::record(6), throttled());
  test.fail(Attempted::record(7), withheld());
  Suspects::Seen seen;
  test.attempts->see_suspects(seen);
  CHECK(seen == Suspects::Seen{{4, !out}, {5, false}, {6, false}});
}

TEST_CASE("suspects whose failures belong to an outage are acquitted, and get their attempt back") {
  Attempted test;
  auto failed = Attempted::record(4);
  const std::string reason = "HTTP 503";
  test.downstream.failed({.record = RecordIds(test.id.partition).of(failed), .reason = reason}, test.now);
  test.fail(std::move(failed), Outcome::retry(reason));
  CHECK_FALSE(test.attempts->only_suspects());  // the downstream works
  test.now = std::max(test.now, SteadyClock::now());
  test.break_down();
  CHECK_FALSE(test.attempts->only_suspects());
  auto item = test.after_its_delay();
  CHECK(item.attempt == 2);
  CHECK(test.attempts->begins(item, test.now));
  CHECK(item.attempt == 1);
}

TEST_CASE("records that failed before an outage began stay suspects in the outage") {
  Attempted test;
  test.fail(Attempted::record(4), Outcome::retry("no"));
  test.now = std::max(test.now, SteadyClock::now()) + seconds(1);
  test.break_down();
  CHECK(test.attempts->only_suspects());
  test.fail(Attempted::record(5), withheld());
  CHECK_FALSE(test.attempts->only_suspects());
}

TEST_CASE(
    "the last failure is undecided while others fail, and counts when the downstream works for others") {
  Attempted test;
  test.context.retry.attempts = 1;
  test.attempts->follow_settings();
  const std::string reason = "HTTP 503";
  test.downstream.failed({.record = 1000, .reason = reason}, test.now);
  CHECK_FALSE(test.fail(Attempted::record(), Outcome::retry("no")));
  auto item = test.after_its_delay();
  CHECK_FALSE(test.attempts->begins(item, test.now));
  CHECK(test.waiting() == 1);
  REQUIRE(test.downstream.all_worked(1, 1, milliseconds(1), test.now));
  item = test.after_its_delay();
  CHECK(test.attempts->begins(item, test.now));
  CHECK(test.waiting() == 0);
  CHECK(item.route() == Route::dead_letter);
  CHECK(item.failures->given_up == DeadLetterReason::attempts_exhausted);
}

TEST_CASE("a failure in a drain keeps nothing waiting, and shows a suspect only where a record is to blame") {
  Attempted test;
  auto beside = Outcome::retry("no");
  beside.same_call = true;
  auto known = Attempted::record(5);
  known.suspect = true;
  const auto fail = [&](handler::Item item, const Outcome& outcome) {
    test.attempts->fail_in_drain(item, outcome, milliseconds(1), test.now);
  };
  fail(Attempted::record(0), Outcome::retry("no"));
  fail(Attempted::record(1), Outcome::reject("bad"));
  fail(Attempted::record(2), withheld());
  fail(Attempted::record(3), throttled());
  fail(Attempted::record(4), beside);
  fail(std::move(known), Outcome::retry("no"));
  fail(Attempted::record(6, Route::dead_letter), Outcome::unavailable("no broker"));
  fail(Attempted::record(7), Outcome::unavailable("out"));
  CHECK(test.waiting() == 0);
  CHECK(test.attempts->bytes() == 0);
  Suspects::Seen seen;
  test.attempts->see_suspects(seen);
  CHECK(seen == Suspects::Seen{{0, true}, {7, false}});
  test.ledger.complete(0);
  seen.clear();
  test.attempts->see_suspects(seen);
  CHECK(seen == Suspects::Seen{{7, false}});
}

TEST_CASE("a skip gives up a waiting record at once, and a running one when it fails") {
  Attempted test;
  auto running = Attempted::record(1);
  test.fail(Attempted::record(0), Outcome::retry("no"));
  const auto skipped = test.attempts->skip(0, "not wanted");
  CHECK(skipped.answer == Skip::on_its_way);
  REQUIRE(skipped.item);
  CHECK(skipped.item->route() == Route::dead_letter);
  CHECK(skipped.item->failures->given_up == DeadLetterReason::skipped);
  CHECK(skipped.item->failures->reason == "skipped by an operator: not wanted (last error: no)");
  CHECK(skipped.item->attempt == 1);
  CHECK(test.attempts->bytes() == 0);
  CHECK(test.attempts->skip(1, "not wanted").answer == Skip::when_it_fails);
  const auto wished = test.fail(std::move(running), GENERATE(Outcome::retry("no"), withheld(), throttled()));
  REQUIRE(wished);
  CHECK(wished->route() == Route::dead_letter);
  CHECK(wished->failures->given_up == DeadLetterReason::skipped);
  CHECK(test.waiting() == 0);
}

TEST_CASE("the wish to skip a record holds for all of its sub-jobs, until the record is finished") {
  Attempted test;
  CHECK(test.attempts->skip(1, "not wanted").answer == Skip::when_it_fails);
  for (int sub_job = 0; sub_job < 2; ++sub_job) {
    test.attempts->tick(test.now);
    CHECK(test.fail(Attempted::record(1), Outcome::retry("no")));
  }
  test.ledger.complete(1);
  test.attempts->tick(test.now);
  CHECK_FALSE(test.fail(Attempted::record(1), Outcome::retry("no")));
}

TEST_CASE("a skip takes a record away from its retry topic, but not from the dead-letter topic") {
  Attempted test(&leads_to_retry_topic);
  test.fail(Attempted::record(0, Route::retry_topic), Outcome::unavailable("no broker"));
  test.fail(Attempted::record(1, Route::dead_letter), Outcome::unavailable("no broker"));
  const auto skipped = test.attempts->skip(0, "not wanted");
  CHECK(skipped.answer == Skip::on_its_way);
  REQUIRE(skipped.item);
  CHECK(skipped.item->route() == Route::dead_letter);
  CHECK(test.attempts->skip(1, "not wanted").answer == Skip::already_given_up);
  CHECK(test.waiting() == 1);
  CHECK(test.attempts->skip(2, "not wanted").answer == Skip::when_it_fails);
  CHECK_FALSE(test.fail(Attempted::record(2, Route::dead_letter), Outcome::unavailable("no broker")));
}

TEST_CASE("a waiting record that holds back the commits is given up, unless the downstream is the cause") {
  Attempted test;
  const auto give_up = [&] { return test.attempts->give_up_waiting(0, DeadLetterReason::too_old); };
  test.context.ledger.policy = config::LedgerPolicy::dead_letter;
  const bool to_blame = GENERATE(false, true);
  const bool fails = to_blame || GENERATE(false, true);
  test.fail(Attempted::record(), to_blame ? Outcome::retry("no")
                                 : fails  ? Outcome::unavailable("")
                                          : withheld());
  test.fail(Attempted::record(1), Outcome::retry("no"));
  const auto given_up = give_up();
  CHECK(given_up.has_value() == to_blame);
  CHECK(test.waiting() == (to_blame ? 1 : 2));
  CHECK(test.attempts->bytes() == test.waiting() * (100 + record_overhead));
  if (!given_up) return;
  CHECK(given_up->sequence == 0);
  CHECK(given_up->failures->given_up == DeadLetterReason::too_old);
  test.context.ledger.policy = config::LedgerPolicy::hold;
  CHECK_FALSE(test.attempts->give_up_waiting(1, DeadLetterReason::too_old));
}

TEST_CASE("a record that no retry topic has taken, and that has had no attempt, is not given up") {
  Attempted test;
  test.context.ledger.policy = config::LedgerPolicy::dead_letter;
  auto parked = Attempted::record(0, Route::parked);
  SECTION("without an attempt") {
    test.fail(std::move(parked), Outcome::unavailable("no broker"));
    CHECK_FALSE(test.attempts->give_up_waiting(0, DeadLetterReason::too_old));
  }
  SECTION("with attempts in the topic before") {
    parked.failures->attempts_before = 1;
    test.fail(std::move(parked), Outcome::unavailable("no broker"));
    CHECK(test.attempts->give_up_waiting(0, DeadLetterReason::too_old));
  }
}

TEST_CASE("the next failure of a record that has held back the commits for too long is its last") {
  Attempted test;
  test.context.ledger = {.max_age = seconds(60), .policy = config::LedgerPolicy::dead_letter};
  test.oldest.tick({}, true, test.now);
  test.now += seconds(59);
  CHECK_FALSE(test.fail(Attempted::record(0), Outcome::retry("no")));
  test.now += seconds(1);
  CHECK_FALSE(test.fail(Attempted::record(0), Outcome::unavailable("out")));
  CHECK_FALSE(test.fail(Attempted::record(1), Outcome::retry("no")));
  const auto given_up = test.fail(Attempted::record(0), Outcome::retry("no"));
  REQUIRE(given_up);
  CHECK(given_up->failures->given_up == DeadLetterReason::too_old);
}

TEST_CASE("a record of a retry topic waits until it is due, and has one attempt") {
  delivery::RetrySteps steps;
  steps.add("orders", {{"orders-retry-1m", seconds(60)}});
  Attempted test(&last_retry_topic);
  test.context.retry_steps = &steps;
  auto item = Attempted::record(8);
  const auto left = test.attempts->restore(item, SteadyClock::now());
  CHECK(left > seconds(30));
  CHECK(left <= seconds(60));
  CHECK(item.offset() == 8);
  test.attempts->put_off(std::move(item), test.now + left);
  CHECK_FALSE(test.attempts->due(test.now + left - nanoseconds(1)));
  item = test.after_its_delay();
  CHECK(test.attempts->begins(item, test.now));
  CHECK(item.attempt == 1);
  const auto given_up = test.fail(std::move(item), Outcome::retry("no"));
  REQUIRE(given_up);
  CHECK(given_up->route() == Route::dead_letter);
}

TEST_CASE("a record that its subscriber has not taken goes to the next topic without an attempt") {
  const auto* step = GENERATE(&last_retry_topic, &leads_to_retry_topic);
  Attempted test(step);
  auto item = Attempted::record();
  if (GENERATE(false, true)) {
    test.fail(std::move(item), Outcome::unavailable("HTTP 503"));
    item = test.after_its_delay();
  }
  const bool failed = item.failures != nullptr;
  test.attempts->give_up_unbegun(item);
  CHECK(item.route() == (step->next.empty() ? Route::dead_letter : Route::retry_topic));
  CHECK(item.failures->given_up == DeadLetterReason::too_old);
  CHECK(item.failures->reason == std::string("shop has not taken the record for too long") +
                                     (failed ? " (last error: HTTP 503)" : ""));
}

TEST_CASE("a record that is parked uses up no attempt, and has those that were left when it comes back") {
  delivery::RetrySteps steps;
  steps.add("orders", {{"orders-retry-1m", seconds(60)}}, {.failed = false, .parked = true});
  Attempted test(steps.find("orders"));
  CHECK_FALSE(test.attempts->parks());
  test.context.parking = &test.forward;
  CHECK(test.attempts->parks());
  auto item = Attempted::record();
  item.arrived = test.now - seconds(20);
  test.fail(std::move(item), Outcome::retry("no"));
  item = test.after_its_delay();
  test.attempts->park(item, test.now);
  CHECK(item.route() == Route::parked);
  CHECK(item.attempt == 1);  // has counted
  CHECK(*item.failures->parks_in == "orders-retry-1m");
  CHECK(item.failures->waiting_since_ms <= wall_clock_ms() - 20000);
  CHECK(item.failures->reason == "no");

  item.failures->route = Route::work;
  item.failures->attempts_before = item.attempt;  // as its headers say
  item.failures->blame = {};
  item.attempt = 2;
  int attempts = 1;
  for (;; ++attempts) {
    auto given_up = test.fail(std::move(item), Outcome::retry("no"));
    if (given_up) break;
    item = test.after_its_delay();
  }
  CHECK(attempts + 1 == static_cast<int>(test.context.retry.attempts));
}

TEST_CASE("a record that its retry topic does not take is work of its lane again, and may be parked later") {
  delivery::RetrySteps steps;
  steps.add("orders", {{"orders-retry-1m", seconds(60)}}, {.failed = false, .parked = true});
  Attempted test(steps.find("orders"));
  test.context.parking = &test.forward;
  const auto answer = GENERATE(Outcome::unavailable("no broker"), Outcome::reject("too large"));
  auto item = Attempted::record();
  item.arrived = test.now;
  test.attempts->park(item, test.now);
  test.now += seconds(5);
  CHECK_FALSE(test.fail(std::move(item), answer));
  item = test.after_its_delay();
  CHECK(item.route() == Route::work);
  CHECK(item.attempt == 1);
  CHECK(item.arrived == test.now);
  CHECK(item.failures->stays == (answer.verdict == handler::Verdict::reject));
}

TEST_CASE("of the waiting records, chosen ones can be taken out") {
  Attempted test;
  for (const std::int64_t offset : {0, 1}) test.fail(Attempted::record(offset), withheld());
  const auto first = [](const handler::Item& item) { return item.sequence == 0; };
  const auto item = test.attempts->take_waiting(first);
  REQUIRE(item);
  CHECK(item->sequence == 0);
  CHECK_FALSE(test.attempts->take_waiting(first));
  CHECK(test.attempts->bytes() == 100 + record_overhead);
}

TEST_CASE("a record that has ended the process too often is given up without another attempt") {
  Attempted test(&leads_to_retry_topic);
  auto item = Attempted::record();
  test.attempts->condemn(item, 3);
  CHECK(item.route() == Route::dead_letter);
  CHECK(item.failures->given_up == DeadLetterReason::crashed);
  CHECK(item.attempt == 3);
  CHECK(test.attempts->log().last_error());
}
