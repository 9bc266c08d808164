// Which dead letters are logged one by one, and what is said of the others.
#include "delivery/failure/letter_limit.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::delivery;

namespace {

constexpr TimePoint letters_start{seconds(1000)};

}  // namespace

TEST_CASE("the first twenty dead letters of a minute are logged singly, and the others are counted") {
  LetterLimit limit;
  for (int i = 0; i < 20; ++i) CHECK(limit.admit(letters_start, i));
  CHECK_FALSE(limit.take_due(letters_start + seconds(59)));
  for (const std::int64_t offset : {31, 40, 22}) CHECK_FALSE(limit.admit(letters_start + seconds(1), offset));
  CHECK_FALSE(limit.take_due(letters_start + seconds(6) - milliseconds(1)));
  const auto summary = limit.take_due(letters_start + seconds(6));
  REQUIRE(summary);
  CHECK(summary->letters == 3);
  CHECK(summary->first == 22);
  CHECK(summary->last == 40);
  CHECK_FALSE(limit.take_due(letters_start + seconds(100)));
  // The next minute has its own twenty.
  CHECK(limit.admit(letters_start + seconds(60), 50));
}

TEST_CASE("each dead letter is either logged or counted once, whenever it comes") {
  LetterLimit limit;
  std::uint64_t alone = 0;
  std::uint64_t counted = 0;
  TimePoint now = letters_start;
  for (int i = 0; i < 5000; ++i, now += milliseconds(50)) {
    if (limit.admit(now, i)) ++alone;
    if (const auto summary = limit.take_due(now)) counted += summary->letters;
  }
  if (const auto summary = limit.take_due(now, true)) counted += summary->letters;
  CHECK(alone == 5 * LetterLimit::most);  // five minutes were begun
  CHECK(alone + counted == 5000);
}
