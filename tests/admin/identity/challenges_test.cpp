#include "admin/identity/challenges.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::admin;

TEST_CASE("a challenge is valid for one change, for a minute, and for its own service") {
  const TimePoint now{seconds(3600)};
  Challenges challenges, other;
  const auto challenge = challenges.give(now);
  CHECK(challenges.good(challenge, now + seconds(60)));
  CHECK_FALSE(challenges.good(challenge, now + seconds(61)));
  CHECK_FALSE(challenges.use(challenge, now + seconds(61)));
  CHECK_FALSE(other.good(challenge, now));
  CHECK_FALSE(other.use(challenge, now));
  CHECK(challenges.use(challenge, now));
  CHECK_FALSE(challenges.use(challenge, now));
  CHECK(challenges.use(challenges.give(now), now));
}

TEST_CASE("a challenge with a changed end, and text that is not a challenge, are refused") {
  const TimePoint now{seconds(3600)};
  const Challenges challenges;
  auto later = challenges.give(now);
  later.insert(later.find('.') + 1, "9");
  for (const auto& text : {later, std::string(), std::string("."), std::string(".."), std::string("x"),
                           std::string("00.1.00"), challenges.give(now) + "0"})
    CHECK_FALSE(challenges.good(text, now));
}

TEST_CASE("the number of challenges that are used in a minute is bounded") {
  TimePoint now{seconds(3600)};
  Challenges challenges;
  for (std::size_t i = 0; i < Challenges::most; ++i) REQUIRE(challenges.use(challenges.give(now), now));
  CHECK_FALSE(challenges.use(challenges.give(now), now));
  now += seconds(61);
  CHECK(challenges.use(challenges.give(now), now));
}
