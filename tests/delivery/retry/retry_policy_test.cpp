#include "delivery/retry/retry_policy.h"

#include <rapidcheck.h>

#include <limits>

#include "catch.h"

using namespace laneway;
using delivery::RetryPolicy;

namespace {

constexpr double almost_one = 0x1.fffffffffffffp-1;
const RetryPolicy policy{milliseconds(100), seconds(30)};

}  // namespace

TEST_CASE("the delay doubles with each attempt up to its cap") {
  struct Case {
    std::uint32_t attempt;
    milliseconds shortest;
  };
  const auto attempt =
      GENERATE(Case{1, milliseconds(50)}, Case{2, milliseconds(100)}, Case{3, milliseconds(200)},
               Case{9, milliseconds(12800)}, Case{10, milliseconds(15000)}, Case{11, milliseconds(15000)},
               Case{64, milliseconds(15000)}, Case{65, milliseconds(15000)},
               Case{std::numeric_limits<std::uint32_t>::max(), milliseconds(15000)});
  CAPTURE(attempt.attempt);
  CHECK(policy.delay(attempt.attempt, 0) == attempt.shortest);
  CHECK(policy.delay(attempt.attempt, 0.5) == attempt.shortest * 3 / 2);
  CHECK(policy.delay(attempt.attempt, almost_one) <= 2 * attempt.shortest);
  CHECK(policy.delay(attempt.attempt, almost_one) >= 2 * attempt.shortest - nanoseconds(10));
}

TEST_CASE("a handler's requested delay replaces the back-off, up to its own cap") {
  CHECK(policy.delay(1, 0, Duration::zero()) == Duration::zero());
  CHECK(policy.delay(1, almost_one, milliseconds(10)) == milliseconds(10));
  CHECK(policy.delay(11, 0.5, milliseconds(10)) == milliseconds(10));
  CHECK(policy.delay(1, 0, seconds(5)) == seconds(5));
  CHECK(policy.delay(1, 0, seconds(45)) == seconds(45));
  CHECK(policy.delay(1, 0, std::chrono::minutes(10)) == std::chrono::minutes(10));
  CHECK(policy.delay(1, 0, Duration::max()) == std::chrono::hours(24));
  CHECK(policy.delay(1, 0, Duration::min()) == Duration::zero());
}

TEST_CASE("without back-off a record is retried at once") {
  const RetryPolicy none{Duration::zero(), seconds(30)};
  CHECK(none.delay(7, almost_one) == Duration::zero());
}

TEST_CASE("the delay lies between half and all of the capped back-off for any numbers") {
  REQUIRE(rc::check("bounds", [] {
    const auto any = rc::gen::map(rc::gen::inRange(0, 64), [](int bits) {
      return Duration(bits == 63 ? std::numeric_limits<Duration::rep>::max() : Duration::rep{1} << bits);
    });
    const RetryPolicy p{*any, *any};
    const auto attempt = *rc::gen::element<std::uint32_t>(1, 2, 3, 10, 30, 62, 63, 64, 65, 1000, 4000000000U);
    const double random = *rc::gen::element(0.0, 0.25, 0.5, almost_one);
    auto full = p.backoff;
    for (std::uint32_t i = 1; i < attempt && full < p.max_backoff; ++i)
      full = full > p.max_backoff / 2 ? p.max_backoff : full * 2;
    full = std::min(full, p.max_backoff);
    const auto delay = p.delay(attempt, random);
    RC_ASSERT(delay >= full / 2);
    RC_ASSERT(delay <= full);
  }));
}
