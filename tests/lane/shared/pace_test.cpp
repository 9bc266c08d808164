// The pace of a downstream that has asked for fewer calls, as the limiter of all lanes keeps it.
#include "catch.h"
#include "lane/dead_letter_topic.h"
#include "lane/shared/rate_limiter.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

struct Slow {
  explicit Slow(const config::Rate& rate = {}) : limiter(rate) {
    limiter.throttled({}, false, now);
    for (int i = 0; i < 200; ++i) limiter.worked(10, now += milliseconds(10));
    for (int i = 0; i < 120; ++i) limiter.throttled({}, false, now);
  }
  /// The number of records that `askers` lanes take within the time.
  std::uint64_t taken_within(Duration time, int askers = 4) {
    std::uint64_t taken = 0;
    for (const auto end = now + time; now < end; now += milliseconds(1))
      for (int i = 0; i < askers; ++i) {
        const auto room = limiter.room(&names[i], now);
        if (room.none()) continue;
        const auto records = std::min<std::uint64_t>(room.records, 100'000);
        limiter.charge(&names[i], now, records, records);
        taken += records;
      }
    return taken;
  }

  RateLimiter limiter;
  TimePoint now{seconds(1)};
  char names[8] = {};
};

}  // namespace

TEST_CASE("a limiter without a rate has no limit before the second 429") {
  RateLimiter limiter({});
  CHECK_FALSE(limiter.limited());
  limiter.throttled({}, false, TimePoint{seconds(1)});
  CHECK(limiter.limited());
  CHECK(limiter.keeps_pace());
  const int who = 0;
  CHECK(limiter.room(&who, TimePoint{seconds(1)}).records == std::numeric_limits<std::uint64_t>::max());
  CHECK_FALSE(limiter.waits(&who, TimePoint{seconds(1)}));
}

TEST_CASE("all lanes together keep to the pace") {
  Slow slow;
  CHECK(slow.limiter.pace(slow.now) == Approx(700).epsilon(0.02));
  CHECK(slow.taken_within(seconds(1)) == Approx(700).epsilon(0.05));
}

TEST_CASE("a rate below the pace is kept") {
  config::Rate rate;
  rate.records = 100;
  rate.burst = milliseconds(100);
  Slow slow(rate);
  CHECK(slow.taken_within(seconds(2)) == Approx(200).epsilon(0.1));
}

TEST_CASE("no lane takes records before the requested delay is over") {
  Slow slow;
  slow.limiter.throttled(seconds(5), false, slow.now);
  CHECK(slow.taken_within(seconds(5)) == 0);
  CHECK(slow.limiter.waits(&slow.names[0], slow.now - milliseconds(1)));
  CHECK(slow.taken_within(seconds(1)) > 0);
}

TEST_CASE("a grant from before the pace does not outlast its beginning") {
  config::Rate rate;
  rate.bytes = 1'000'000'000;
  rate.burst = seconds(1);
  RateLimiter limiter(rate);
  const int who = 0;
  TimePoint now{seconds(1)};
  CHECK_FALSE(limiter.room(&who, now).none());
  limiter.throttled({}, false, now);
  CHECK_FALSE(limiter.room(&who, now).none());
  limiter.throttled({}, false, now += seconds(2));
  CHECK(limiter.room(&who, now).none());
}

TEST_CASE("a pace that delays no lane ends, and the limiter is free again") {
  Slow slow;
  slow.taken_within(milliseconds(100));
  slow.now += seconds(31);
  CHECK_FALSE(slow.limiter.room(&slow.names[0], slow.now).none());
  CHECK_FALSE(slow.limiter.keeps_pace());
  CHECK_FALSE(slow.limiter.limited());
}

TEST_CASE("a pace that delays no lane is not shown, although it continues") {
  Slow slow;
  slow.taken_within(seconds(1));
  CHECK(slow.limiter.pace(slow.now + seconds(4)) > 0);
  CHECK(slow.limiter.pace(slow.now + seconds(6)) == 0);
  CHECK(slow.limiter.keeps_pace());
}

TEST_CASE("a pace that no lane uses any more ends when it is read") {
  Slow slow;
  CHECK(slow.limiter.pace(slow.now) > 0);
  CHECK(slow.limiter.pace(slow.now + seconds(31)) == 0);
  CHECK_FALSE(slow.limiter.keeps_pace());
}

TEST_CASE("a lane that waits for its downstream's pace reports the pace, not a rate limit") {
  RateLimiter all({});
  FailingLane test;
  test.context.rate = test.stage().rate = &all;
  test.partition.add(0);
  test.begin();
  for (int i = 0; i < 2; ++i) all.throttled(std::chrono::hours(1), false, SteadyClock::now());
  test.partition.add(1);
  const auto limited = bit(Hold::rate_limited);
  REQUIRE(test.until([&] { return (test.lane->stats().hold_bits.get() & limited) != 0; }));
  const auto detail = test.lane->detail(SteadyClock::now());
  CHECK(detail.held_by == "the downstream asks for fewer calls");
  REQUIRE(detail.hold_reasons.size() == 1);
  CHECK(detail.hold_reasons[0].code == "rate_limited");
  CHECK(detail.hold_reasons[0].cause == HoldCause::downstream);
}

TEST_CASE("a record that gets a 429 uses up no attempt and opens no breaker") {
  Downstream downstream("test", {.breaker = {1, seconds(30), std::chrono::hours(1)}});
  RateLimiter all({});
  FailingLane test;
  test.stage().downstream = &downstream;
  test.context.rate = test.stage().rate = &all;
  test.context.retry.max_backoff = milliseconds(200);
  test.partition.add(0);
  test.begin();
  for (int i = 0; i < 20; ++i) test.handler.answer(0, throttled());
  test.handler.answer(0);
  REQUIRE(test.in_time([&] { return test.commit_offset() == 1; }));
  CHECK(test.handler.attempts(0) == std::vector<std::uint32_t>(21, 1));
  CHECK(all.keeps_pace());
  CHECK(downstream.closed());
  CHECK(downstream.report(SteadyClock::now()).calls.failed == 20);
  CHECK(test.lane->stats().outcomes[static_cast<std::size_t>(handler::OutcomeLabel::unavailable)].get() ==
        20);
}

TEST_CASE("at a downstream's pace, failing records and new records take turns") {
  RateLimiter all({});
  FailingLane test;
  test.context.rate = test.stage().rate = &all;
  test.context.retry.attempts = 1000;
  test.context.retry.backoff = test.context.retry.max_backoff = milliseconds(1);
  for (int i = 0; i < 100; ++i) test.handler.answer(0, handler::Outcome::retry("always"));
  test.handler.open();
  for (int i = 0; i < 3; ++i) all.throttled({}, false, test.now += seconds(i));
  test.partition.add_run(0, 20);
  test.begin();
  for (int i = 0; i < 35; ++i) {
    REQUIRE(test.until_outstanding(0));
    test.pass(milliseconds(100));
  }
  const auto again = test.handler.attempts(0).size();
  const auto begun = test.handler.started().size();
  CHECK(begun < 25);
  CHECK(again > begun / 3);
  CHECK(again < begun - begun / 3);
}

TEST_CASE("a record that always gets a 429 is retried less and less often") {
  RateLimiter all({});
  FailingLane test;
  test.context.rate = test.stage().rate = &all;
  test.context.retry.max_backoff = std::chrono::hours(1);
  test.partition.add(0);
  test.begin();
  for (int i = 0; i < 100; ++i) test.handler.answer(0, throttled());
  for (int i = 0; i < 1000; ++i) {
    test.pass(milliseconds(200));
    REQUIRE(test.until_outstanding(0));
  }
  CHECK(test.handler.attempts(0).size() > 5);
  CHECK(test.handler.attempts(0).size() < 20);
}
