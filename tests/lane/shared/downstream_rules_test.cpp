// How a downstream applies its rules, and handles slow calls and callers that leave.
#include "catch.h"
#include "lane/shared/downstream.h"

using namespace laneway;
using namespace laneway::lane;
using delivery::Breaker;

namespace {

constexpr TimePoint opening{seconds(5000)};
const std::string no_database = "HTTP 500 from shop:443";

DownstreamRules sensitive() {
  return {.breaker = {.failures = 1, .window = seconds(30), .probe = seconds(5)}};
}

/// How many of `rejections` simultaneous rejections may be dead-lettered.
int given_up(Downstream& downstream, int rejections) {
  int count = 0;
  for (int i = 0; i < rejections; ++i) count += downstream.admits_rejection(opening) ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("each call that takes longer than the limit is a failure") {
  auto rules = sensitive();
  rules.slow = seconds(1);
  Downstream downstream("shop", rules);
  downstream.worked(1, seconds(1), opening);
  CHECK(downstream.closed());
  downstream.worked(1, seconds(1) + nanoseconds(1), opening);
  CHECK(downstream.state() == Breaker::State::open);
  CHECK(downstream.report(opening).last_failure == "calls take longer than breaker.slow");
}

TEST_CASE("work without failures is counted at once while the breaker is closed and no call is slow") {
  const TimePoint now{seconds(1)};
  Downstream downstream("test", {.breaker = {1, seconds(30), seconds(5)}, .slow = seconds(1)});
  CHECK(downstream.all_worked(2, 40, seconds(1), now));
  CHECK(downstream.report(now).calls.calls == 2);
  CHECK_FALSE(downstream.all_worked(2, 40, seconds(1) + milliseconds(1), now));
  downstream.failed({.record = 1, .reason = "HTTP 500"}, now);
  REQUIRE_FALSE(downstream.closed());
  CHECK_FALSE(downstream.all_worked(2, 40, milliseconds(1), now));
  CHECK(downstream.report(now).totals[static_cast<std::size_t>(delivery::CallOutcome::success)] == 2);
}

TEST_CASE("a slow call with several records ends all of them") {
  auto rules = sensitive();
  rules.slow = seconds(1);
  Downstream downstream("shop", rules);
  downstream.failed({.reason = no_database}, opening);
  const auto now = opening + seconds(5);
  const int who = 0;
  REQUIRE(downstream.admit(&who, 1, now));
  for (int i = 0; i < 3; ++i) downstream.worked(1, milliseconds(1), now);
  REQUIRE(downstream.room(&who, now) == 4);
  REQUIRE(downstream.admit(&who, 3, now));
  downstream.worked(3, seconds(2), now);  // one failure: a quarter of a call less
  CHECK(downstream.room(&who, now) == 3);
}

TEST_CASE("a changed limit for slow calls takes effect at once, and without a limit no call is slow") {
  auto rules = sensitive();
  Downstream downstream("shop", rules);
  downstream.worked(1, std::chrono::hours(1), opening);
  CHECK(downstream.closed());
  rules.slow = milliseconds(10);
  downstream.change(rules, opening);
  downstream.worked(1, milliseconds(11), opening);
  CHECK_FALSE(downstream.closed());
}

TEST_CASE("rules with the same limit of rejections do not restart the count") {
  auto rules = sensitive();
  rules.most_rejections = 1;
  Downstream downstream("shop", rules);
  CHECK(given_up(downstream, 50) == 50);
  rules.breaker.failures = 7;
  downstream.change(rules, opening);
  CHECK(given_up(downstream, 50) == 10);
}

TEST_CASE("each changed limit of rejections restarts the count") {
  auto rules = sensitive();
  Downstream downstream("shop", rules);
  CHECK(given_up(downstream, 10'000) == 10'000);
  for (const std::uint64_t limit : {1, 2, 1}) {
    rules.most_rejections = limit;
    downstream.change(rules, opening);
    CHECK(given_up(downstream, 1000) == static_cast<int>(60 * limit));
    downstream.change(rules, opening);
    CHECK(given_up(downstream, 1000) == 0);
  }
}

TEST_CASE("finished records outweigh rejections") {
  auto rules = sensitive();
  rules.most_rejections = 1;
  Downstream downstream("shop", rules);
  CHECK(given_up(downstream, 50) == 50);
  downstream.done(30);
  CHECK(given_up(downstream, 50) == 40);
}

TEST_CASE("in a half-open state, the downstream reports the start of its outage and the successful probes") {
  Downstream downstream("shop", sensitive());
  downstream.failed({.reason = no_database}, opening);
  const int who = 0;
  REQUIRE(downstream.admit(&who, 1, opening + seconds(5)));
  downstream.worked(1, milliseconds(1), opening + seconds(5));
  const auto report = downstream.report(opening + seconds(6));
  CHECK(report.state == Breaker::State::half_open);
  CHECK(report.out_since == opening);
  CHECK(report.has_worked);
  CHECK(report.calls.calls == 2);
  CHECK(report.calls.failed == 1);
}

TEST_CASE("on a quiet stream, the limits end five seconds after a successful probe") {
  Downstream downstream("shop", sensitive());
  downstream.failed({.reason = no_database}, opening);
  const auto now = opening + seconds(5);
  const int who = 0;
  REQUIRE(downstream.admit(&who, 1, now));
  downstream.worked(1, milliseconds(1), now);
  downstream.settle(now + seconds(4));
  CHECK_FALSE(downstream.closed());
  downstream.settle(now + seconds(5));
  CHECK(downstream.closed());
}

TEST_CASE("a caller that leaves passes the turn to the next at once") {
  Downstream downstream("shop", sensitive());
  downstream.failed({.reason = no_database}, opening);
  const auto now = opening + seconds(5);
  const int first = 0;
  const int second = 0;
  REQUIRE(downstream.room(&first, now) == 1);
  REQUIRE(downstream.room(&second, now) == 0);
  downstream.leave(&first);
  CHECK(downstream.room(&second, now) == 1);
}

TEST_CASE("a downstream gets the longer rest that it asks for") {
  Downstream downstream("shop", sensitive());
  downstream.failed({.reason = no_database, .after = seconds(40)}, opening);
  REQUIRE_FALSE(downstream.closed());
  const int who = 0;
  CHECK_FALSE(downstream.admit(&who, 1, opening + seconds(39)));
  CHECK(downstream.admit(&who, 1, opening + seconds(40)));
}

TEST_CASE("a record that fails again and again is one failure of the downstream") {
  auto rules = sensitive();
  rules.breaker.failures = 2;
  Downstream downstream("shop", rules);
  for (int i = 0; i < 10; ++i) downstream.failed({.record = 7, .reason = no_database}, opening);
  CHECK(downstream.closed());
  downstream.failed({.record = 8, .reason = no_database}, opening);
  CHECK_FALSE(downstream.closed());
}

TEST_CASE("a stopped probe makes room for the next probe") {
  Downstream downstream("shop", sensitive());
  downstream.failed({.reason = no_database}, opening);
  const auto now = opening + seconds(5);
  const int who = 0;
  REQUIRE(downstream.admit(&who, 1, now));
  REQUIRE(downstream.room(&who, now) == 0);
  downstream.ended(1);
  CHECK(downstream.room(&who, now) == 1);
}

TEST_CASE("a suspended record is given up as soon as another record succeeds") {
  auto rules = sensitive();
  rules.breaker.failures = 5;
  Downstream downstream("shop", rules);
  const delivery::FailureRules one_attempt{
      {milliseconds(100), milliseconds(500)}, 1, std::chrono::minutes(5), true};
  delivery::Blame blame;
  for (const delivery::RecordId record : {1, 2})
    downstream.failed({.record = record, .reason = no_database}, opening);
  const delivery::FailedAttempt attempt{.record = 2, .ended = opening, .took = {}, .random = 0.5};
  CHECK(downstream.judge(blame, attempt, one_attempt).undecided);
  const auto now = opening + milliseconds(100);
  CHECK(downstream.reconsider(blame, one_attempt, now, 0.5).undecided);
  downstream.worked(1, milliseconds(1), now);
  CHECK(downstream.reconsider(blame, one_attempt, now, 0.5).given_up);
}

TEST_CASE("a caller that has only suspects comes after all others") {
  Downstream downstream("shop", sensitive());
  downstream.failed({.reason = no_database}, opening);
  const auto now = opening + seconds(5);
  const int suspects = 0;
  const int others = 0;
  REQUIRE(downstream.room(&suspects, now, true) == 1);
  CHECK(downstream.room(&others, now) == 1);
  CHECK(downstream.room(&suspects, now, true) == 0);
  downstream.leave(&others);
  CHECK(downstream.room(&suspects, now, true) == 1);
  CHECK(downstream.room(&suspects, now) == 1);  // now it has another record
  CHECK(downstream.room(&others, now, true) == 0);
  REQUIRE(downstream.admit(&suspects, 1, now));
  downstream.ended(1);
  CHECK(downstream.room(&others, now, true) == 1);
}

TEST_CASE("suspects open no breaker, and the history in another topic or process makes a suspect") {
  Downstream downstream("shop", sensitive());
  delivery::Blame blame;
  const delivery::FailureRules rules{
      {milliseconds(100), milliseconds(100)}, 9, std::chrono::minutes(5), true};
  CHECK_FALSE(downstream.is_suspect(blame));
  downstream.judge(blame, {.record = 1, .ended = opening, .took = milliseconds(1), .random = 0}, rules);
  CHECK(downstream.is_suspect(blame));
  downstream.failed({.record = 1, .before = &blame, .reason = no_database}, opening);
  for (delivery::RecordId record = 2; record < 100; ++record)
    downstream.failed({.record = record, .suspect = true, .reason = no_database}, opening);
  CHECK(downstream.closed());
  downstream.failed({.record = 100, .reason = no_database}, opening);
  CHECK_FALSE(downstream.closed());
}

TEST_CASE("an overtaken slow call is not a sign of an outage, but many are") {
  Downstream downstream("shop", sensitive());
  const auto fails_after = [&](delivery::RecordId record, Duration took, TimePoint now) {
    downstream.failed({.record = record, .took = took, .reason = no_database}, now);
    return downstream.closed();
  };
  REQUIRE(downstream.all_worked(1, 1, milliseconds(5), opening));
  const auto late = opening + seconds(1);
  for (delivery::RecordId record = 1; record <= 16; ++record)
    CHECK(fails_after(record, seconds(1) + milliseconds(50), late));
  CHECK_FALSE(fails_after(17, seconds(1) + milliseconds(50), late));
}

TEST_CASE("the usual duration of calls decides which failure is slow, and one slow call does not") {
  Downstream downstream("shop", sensitive());
  auto now = opening;
  const auto work = [&](int calls, Duration took) {
    for (int i = 0; i < calls; ++i) REQUIRE(downstream.all_worked(1, 1, took, now += milliseconds(1)));
  };
  work(100, milliseconds(5));
  SECTION("one slow call comes first") { work(1, seconds(10)); }
  SECTION("many slow calls come long before") {
    work(50, seconds(10));
    for (int minute = 0; minute < 20; ++minute) downstream.settle(now += seconds(60));
    work(100, milliseconds(5));
    downstream.settle(now);
  }
  SECTION("many quick calls come before a quiet hour") {
    for (int minute = 0; minute < 60; ++minute) downstream.settle(now += seconds(60));
    work(1, seconds(10));
  }
  bool slow = false;
  SECTION("many slow calls come just before") {
    work(50, seconds(10));
    slow = true;
  }
  work(1, milliseconds(5));
  downstream.failed({.record = 1, .took = seconds(1), .reason = no_database}, now += milliseconds(900));
  CHECK(downstream.closed() != slow);
}

TEST_CASE("a failure counts although calls take longer than the longest measured time") {
  Downstream downstream("shop", sensitive());
  auto now = opening;
  for (int i = 0; i < 64; ++i) REQUIRE(downstream.all_worked(1, 1, seconds(500), now));
  now += seconds(300);
  REQUIRE(downstream.all_worked(1, 1, milliseconds(5), now));
  downstream.failed({.record = 1, .took = seconds(300), .reason = no_database}, now);
  CHECK_FALSE(downstream.closed());
}

TEST_CASE("for 1.5 seconds, quick failures are not an outage while more other tasks run") {
  Downstream downstream("shop", {{.failures = 5}});
  const int who = 0;
  for (int i = 0; i < 20; ++i) REQUIRE(downstream.admit(&who, 1, opening));
  for (delivery::RecordId record = 1; record <= 10; ++record) {
    downstream.failed({.record = record, .reason = no_database}, opening);
    downstream.task_ended();
  }
  downstream.settle(opening + milliseconds(1499));
  CHECK(downstream.closed());
  SECTION("that time passes") { downstream.settle(opening + milliseconds(1500)); }
  SECTION("one of the other tasks ends") {
    downstream.task_ended();
    downstream.settle(opening + milliseconds(1499));
  }
  CHECK_FALSE(downstream.closed());
}

TEST_CASE("refused connections are an outage, however many tasks run") {
  Downstream downstream("shop", {{.failures = 5}});
  const int who = 0;
  for (int i = 0; i < 20; ++i) REQUIRE(downstream.admit(&who, 1, opening));
  for (int i = 0; i < 5; ++i) downstream.failed({.reason = "no connection"}, opening);
  CHECK_FALSE(downstream.closed());
}

TEST_CASE("two of three backends with slow failures are an outage within a second") {
  const auto slowly = GENERATE(milliseconds(50), milliseconds(500), seconds(5));
  Downstream downstream("shop", {{.failures = 5}});
  auto now = opening;
  delivery::RecordId record = 0;
  const auto pass = [&](Duration time, int good, int bad) {
    for (const auto end = now + time; now < end && downstream.closed(); now += milliseconds(30)) {
      for (int i = 0; i < good; ++i) static_cast<void>(downstream.all_worked(1, 1, milliseconds(10), now));
      for (int i = 0; i < bad; ++i)
        downstream.failed({.record = ++record, .took = slowly, .reason = no_database}, now);
      if (now.time_since_epoch() % seconds(1) < milliseconds(30)) downstream.settle(now);
    }
  };
  pass(seconds(10), 12, 0);
  pass(slowly, 4, 0);
  REQUIRE(downstream.closed());
  pass(seconds(1), 4, 8);
  CHECK_FALSE(downstream.closed());
}

TEST_CASE("two of three hanging backends are an outage, although the third always works") {
  Downstream downstream("shop", {{.failures = 5}});
  auto now = opening;
  for (delivery::RecordId record = 1; record <= 200 && downstream.closed(); record += 2) {
    now += milliseconds(100);
    static_cast<void>(downstream.all_worked(1, 1, milliseconds(10), now));
    for (const auto hung : {record, record + 1})
      downstream.failed({.record = hung, .took = seconds(10), .reason = "time-out"}, now);
  }
  CHECK_FALSE(downstream.closed());
}

TEST_CASE("a call that began after the last success can show an outage, however long it took") {
  Downstream downstream("shop", sensitive());
  REQUIRE(downstream.all_worked(1, 1, seconds(1), opening));
  downstream.failed({.record = 1, .took = seconds(13), .reason = no_database}, opening + milliseconds(12001));
  CHECK_FALSE(downstream.closed());
}

TEST_CASE("a failure that is certainly the downstream's shows an outage, however long the call took") {
  Downstream downstream("shop", sensitive());
  REQUIRE(downstream.all_worked(1, 1, milliseconds(5), opening));
  downstream.failed({.took = seconds(5), .reason = "HTTP 503"}, opening + seconds(1));
  CHECK_FALSE(downstream.closed());
}
