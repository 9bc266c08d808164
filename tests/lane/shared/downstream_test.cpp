// Which lane's record probes a downstream that is out.
#include "lane/shared/downstream.h"

#include <array>

#include "catch.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

const std::string refused = "refused";

}  // namespace

TEST_CASE("callers that wait for a downstream probe in turn, in whatever order they call") {
  Downstream downstream("shop", {.breaker = {.failures = 1, .window = seconds(30), .probe = seconds(5)}});
  TimePoint now{seconds(100)};
  downstream.failed({.reason = refused}, now);
  std::array<int, 4> askers{};                     // the number of probes of each
  for (int second = 1; second <= 200; ++second) {  // they ask every second
    now += seconds(1);
    int* probing = nullptr;
    for (auto& asker : askers) {  // the first one always comes first
      if (downstream.room(&asker, now) == 0) continue;
      REQUIRE(downstream.admit(&asker, 1, now));
      probing = &asker;
    }
    REQUIRE((probing != nullptr) == (second % 5 == 0));
    if (probing == nullptr) continue;
    ++*probing;
    downstream.failed({.reason = refused}, now);
  }
  for (const int probes : askers) CHECK(probes == 10);
}

TEST_CASE("a caller that leaves or no longer calls blocks no other caller") {
  Downstream downstream("shop", {.breaker = {.failures = 1, .window = seconds(30), .probe = seconds(5)}});
  TimePoint now{seconds(100)};
  downstream.failed({.reason = refused}, now);
  std::array<int, 3> askers{};
  for (auto& asker : askers) CHECK(downstream.room(&asker, now) == 0);
  downstream.leave(&askers[0]);
  now += seconds(5);
  CHECK(downstream.room(&askers[2], now) == 1);  // the second has not asked for a long time
  REQUIRE(downstream.admit(&askers[2], 1, now));
  CHECK(downstream.room(&askers[1], now) == 0);
}
