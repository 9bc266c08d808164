// One record and one failure after the other: what counts, what is given back, and how long the record waits.
#include "catch.h"
#include "delivery/failure/blame.h"

using namespace laneway;
using namespace laneway::delivery;

namespace {

const TimePoint dawn = TimePoint{} + std::chrono::hours(6);
constexpr RecordId own = 1;

/// A record and its downstream. Delays are exact: half of a delay is random, and `random` is 0.
struct Trial {
  Breaker breaker{{5, std::chrono::seconds(30), std::chrono::seconds(5)}};
  FailureRules rules{{milliseconds(200), std::chrono::seconds(20)}, 3, std::chrono::minutes(5), true};
  Blame blame{};
  TimePoint now = dawn;
  RecordId others = 100;

  Blame::Step fail(bool unavailable = false, std::optional<Duration> after = {}, Duration took = {}) {
    breaker.failed(now, {own, blame.repeats(breaker)});
    return blame.failed(
        breaker,
        {.record = own, .ended = now, .took = took, .random = 0, .unavailable = unavailable, .after = after},
        rules);
  }
  void others_fail(int count) {
    for (int i = 0; i < count; ++i) breaker.failed(now, {++others, false});
  }
  void go_out() {
    for (int i = 0; i < 60 && breaker.state() == Breaker::State::closed; ++i) others_fail(1);
    REQUIRE(breaker.state() == Breaker::State::open);
  }
  void come_back() {
    now += std::chrono::seconds(60);
    breaker.begin(now, 1);
    breaker.succeeded(now, 1000);
    REQUIRE(breaker.state() == Breaker::State::closed);
    now += std::chrono::seconds(1);
  }
  Blame::Step reconsider() { return blame.reconsider(breaker, rules, now, 0); }
};

}  // namespace

TEST_CASE("an attempt that fails during an outage does not count, however many there are") {
  Trial trial;
  trial.go_out();
  for (int i = 0; i < 100; ++i) CHECK_FALSE(trial.fail().given_up);
  CHECK(trial.blame.counted() == 0);
  trial.come_back();
  for (int i = 0; i < 2; ++i) CHECK_FALSE(trial.fail().given_up);
  CHECK(trial.blame.counted() == 2);
  trial.breaker.succeeded(trial.now, 1);
  CHECK(trial.fail().given_up == DeadLetterReason::attempts_exhausted);
}

TEST_CASE("during an outage a record waits for at most a second, whatever delay the answer asks for") {
  Trial trial;
  trial.rules.delays = {std::chrono::seconds(10), std::chrono::seconds(20)};
  trial.go_out();
  CHECK(trial.fail().delay == Duration(seconds(1)));
  CHECK(trial.fail(false, std::chrono::seconds(30)).delay == Duration(seconds(1)));
  trial.rules.delays = {milliseconds(200), std::chrono::seconds(20)};
  CHECK(trial.fail().delay == Duration(milliseconds(100)));
}

TEST_CASE("a record repeats its failures while its attempts count, and in the outage in which it failed") {
  Trial trial;
  CHECK_FALSE(trial.blame.repeats(trial.breaker));
  trial.go_out();
  CHECK_FALSE(trial.blame.repeats(trial.breaker));
  trial.fail();
  CHECK(trial.blame.repeats(trial.breaker));
  trial.come_back();
  trial.go_out();  // the next outage
  CHECK_FALSE(trial.blame.repeats(trial.breaker));
  trial.come_back();
  trial.fail();
  CHECK(trial.blame.repeats(trial.breaker));
}

TEST_CASE("a record is a suspect while one of its attempts failed outside an outage") {
  Trial trial;
  CHECK_FALSE(trial.blame.suspect(trial.breaker));
  trial.fail();
  CHECK(trial.blame.suspect(trial.breaker));
  trial.go_out();  // from that failure on
  CHECK_FALSE(trial.blame.suspect(trial.breaker));
  trial.fail();
  CHECK_FALSE(trial.blame.suspect(trial.breaker));
  trial.come_back();
  CHECK_FALSE(trial.blame.suspect(trial.breaker));
  trial.fail();
  trial.breaker.succeeded(trial.now, 1);
  trial.now += seconds(1);
  trial.go_out();
  CHECK(trial.blame.suspect(trial.breaker));
}

TEST_CASE("an answer that is certainly the downstream's failure never counts, and its delays grow") {
  Trial trial;
  const auto unavailable = [&] { return trial.fail(true).delay; };
  CHECK(unavailable() == Duration(milliseconds(100)));
  CHECK(unavailable() == Duration(milliseconds(200)));
  CHECK(unavailable() == Duration(milliseconds(400)));
  for (int i = 0; i < 100; ++i) CHECK_FALSE(trial.fail(true).given_up);
  CHECK(unavailable() == Duration(seconds(10)));
  CHECK(trial.blame.counted() == 0);
  trial.fail();
  CHECK(unavailable() == Duration(milliseconds(100)));  // another kind of failure was between
}

TEST_CASE("a record is given up at once at its last attempt if no other record fails") {
  Trial trial;
  CHECK_FALSE(trial.fail().given_up);
  CHECK_FALSE(trial.fail().given_up);
  const auto step = trial.fail();
  CHECK(step.given_up == DeadLetterReason::attempts_exhausted);
  CHECK_FALSE(step.undecided);
}

TEST_CASE("a record stays undecided while another record fails, checked often, and given up after 3 s") {
  Trial trial;
  trial.fail();
  trial.fail();
  trial.others_fail(1);
  const auto step = trial.fail();
  CHECK_FALSE(step.given_up);
  CHECK(step.undecided);
  CHECK(step.delay == Duration(milliseconds(100)));
  trial.now += seconds(3) - milliseconds(1);
  CHECK(trial.reconsider().undecided);
  CHECK(trial.reconsider().delay == Duration(milliseconds(100)));
  trial.now += milliseconds(1);
  CHECK(trial.reconsider().given_up == DeadLetterReason::attempts_exhausted);
}

TEST_CASE("an undecided record is given up when another record succeeds later") {
  Trial trial;
  trial.breaker.succeeded(trial.now, 10);
  trial.fail();
  trial.fail();
  trial.others_fail(1);
  CHECK(trial.fail().undecided);
  CHECK(trial.reconsider().undecided);
  trial.breaker.succeeded(trial.now, 1);
  CHECK(trial.reconsider().given_up == DeadLetterReason::attempts_exhausted);
}

TEST_CASE("an undecided record gets its attempts back when an outage shows, also if the outage is over") {
  for (const bool is_over : {false, true}) {
    Trial trial;
    trial.rules.delays = {std::chrono::seconds(10), std::chrono::seconds(20)};
    trial.fail();
    trial.fail();
    trial.others_fail(1);
    CHECK(trial.fail().undecided);
    trial.go_out();
    if (is_over) trial.come_back();
    const auto step = trial.reconsider();
    CHECK_FALSE(step.undecided);
    CHECK_FALSE(step.given_up);
    CHECK(step.delay == Duration(seconds(1)));
    CHECK(trial.blame.counted() == 0);
  }
}

TEST_CASE("an undecided record is not given up during an outage, even if its attempts were before") {
  Trial trial;
  trial.fail();
  trial.fail();
  trial.others_fail(1);
  CHECK(trial.fail().undecided);
  trial.breaker.succeeded(trial.now, 1);
  trial.now += milliseconds(10);
  trial.go_out();
  const auto step = trial.reconsider();
  CHECK_FALSE(step.given_up);
  CHECK_FALSE(step.undecided);
  CHECK(trial.blame.counted() == 3);
}

TEST_CASE("old attempts and their delays count for the time limit") {
  Trial trial;
  trial.rules.attempts = 1000;
  trial.rules.max_elapsed = std::chrono::seconds(100);
  trial.rules.delays = {seconds(1), seconds(1)};  // 500 ms each
  int attempts = 1;
  while (!trial.fail(false, {}, milliseconds(500)).given_up) ++attempts;
  CHECK(attempts == 101);
  CHECK(trial.blame.counted() == 101);
  CHECK(trial.fail().given_up == DeadLetterReason::retry_time_over);
}

TEST_CASE("all attempts of a record count, also more than can be given back") {
  Trial trial;
  trial.rules.attempts = 1000;
  for (int i = 0; i < 200; ++i) trial.fail();
  CHECK(trial.blame.counted() == 200);
  trial.go_out();
  trial.come_back();
  trial.fail();
  CHECK(trial.blame.counted() == 200 - 64 + 1);
}
