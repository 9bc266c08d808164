#include "delivery/failure/failure_rules.h"

#include "catch.h"
#include "config/config.h"

using namespace laneway;
using namespace laneway::delivery;

namespace {

FailureRules rules(std::uint32_t attempts, Duration max_elapsed) {
  return {{seconds(1), seconds(8)}, attempts, max_elapsed, true};
}

}  // namespace

TEST_CASE("the last allowed attempt gives up, and the attempt before waits") {
  const auto three = rules(3, std::chrono::hours(1));
  CHECK_FALSE(three.after_retry(2, 1, {}, 0, {}).given_up);
  CHECK(three.after_retry(3, 1, {}, 0, {}).given_up == DeadLetterReason::attempts_exhausted);
  CHECK(rules(1, std::chrono::hours(1)).after_retry(1, 1, {}, 0, {}).given_up ==
        DeadLetterReason::attempts_exhausted);
}

TEST_CASE("a delay that would end beyond max_elapsed does not begin") {
  const auto ten = rules(100, seconds(10));
  CHECK_FALSE(ten.after_retry(4, 1, seconds(6), 0, {}).given_up);  // 4 s of its own: exactly 10
  CHECK(ten.after_retry(4, 1, seconds(6) + nanoseconds(1), 0, {}).given_up ==
        DeadLetterReason::retry_time_over);
  CHECK(ten.after_retry(1, 1, Duration::max(), 0, {}).given_up == DeadLetterReason::retry_time_over);
}

TEST_CASE("a requested delay beyond max_elapsed is cut, so that a last attempt runs") {
  const auto ten = rules(100, seconds(10));
  const auto step = ten.after_retry(1, 1, seconds(3), 0, seconds(11));
  CHECK_FALSE(step.given_up);
  CHECK(step.delay == seconds(7));
}

TEST_CASE("a shorter requested delay fits if the back-off does not") {
  const auto ten = rules(100, seconds(10));
  const auto step = ten.after_retry(4, 1, seconds(9), 0, milliseconds(500));
  CHECK_FALSE(step.given_up);
  CHECK(step.delay == milliseconds(500));
  CHECK(ten.after_retry(4, 1, seconds(9), 0, milliseconds(1001)).given_up ==
        DeadLetterReason::retry_time_over);
}

TEST_CASE("a rejected record is given up at once") {
  CHECK(rules(100, std::chrono::hours(1)).after_reject(1, 0).given_up == DeadLetterReason::rejected);
}

TEST_CASE("without a dead-letter topic no record is given up") {
  auto none = rules(1, Duration::zero());
  none.dead_letters = false;
  const auto retried = none.after_retry(1000000, 1, std::chrono::hours(1000), 1, {});
  CHECK_FALSE(retried.given_up);
  CHECK(retried.delay == seconds(8));
  const auto rejected = none.after_reject(1, 1);
  CHECK_FALSE(rejected.given_up);
  CHECK(rejected.delay == seconds(1));
}

TEST_CASE("with the defaults, the attempts of a record span at least half a minute") {
  const config::Retry defaults;
  const RetryPolicy delays{defaults.backoff, defaults.max_backoff};
  Duration shortest{};
  for (std::uint32_t attempt = 1; attempt < defaults.attempts; ++attempt)
    shortest += delays.delay(attempt, 0);
  CHECK(shortest >= seconds(30));
  CHECK(2 * shortest < defaults.max_elapsed);
}
