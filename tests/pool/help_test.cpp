// Pools that help each other: whose free slots a job begins on, in which order, and how loans end.
#include <array>

#include "tiers.h"

using namespace laneway;
using namespace laneway::pool;

TEST_CASE("a job begins on its pool's own slot, then on those of the helpers, the nearest first") {
  const bool asynchronous = GENERATE(false, true);
  Tiers tiers(asynchronous);
  const std::vector<std::array<std::uint32_t, 4>> expected = {
      {0, 0, 0, 0}, {1, 1, 0, 0}, {2, 2, 0, 0}, {3, 2, 1, 0}, {3, 2, 1, 1}};
  for (std::size_t jobs = 0; jobs < expected.size(); ++jobs) {
    tiers.high.submit(1);
    const auto [borrowed, of_medium, of_low, queued] = expected[jobs];
    REQUIRE(tiers.high.runs(std::min<std::size_t>(jobs + 1, 4)));
    CHECK(tiers.high->snapshot().borrowed == borrowed);
    CHECK(tiers.medium.lends(of_medium));
    CHECK(tiers.low.lends(of_low));
    CHECK(tiers.high->snapshot().queued == queued);
    CHECK(tiers.high->snapshot().threads <= 1);  // the other jobs run on the helpers' threads
  }
  // No slot is left for the helpers' own jobs, until the claims of the first pool are finished.
  tiers.medium.submit(1);
  tiers.low.submit(1);
  // In the order of their beginning: first the one on the own slot, then those on the slots of `medium`.
  for (std::uint32_t left = 4;; --left) {
    tiers.high.finish();
    REQUIRE(eventually([&] { return tiers.high->snapshot().in_flight == left; }));
    REQUIRE(tiers.high.runs(left));
    if (left == 3) CHECK(tiers.medium.runs(1));
    if (left == 0) break;
  }
  CHECK(tiers.low.runs(1));
  CHECK(eventually([&] { return tiers.high->drained(); }));
  CHECK(tiers.high->snapshot().borrowed == 0);
  CHECK(tiers.medium.lends(0));
  CHECK(tiers.low.lends(0));
}

TEST_CASE("a free slot runs helped jobs first, in the order of the list, then its own") {
  const bool asynchronous = GENERATE(false, true);
  Tiers tiers(asynchronous);
  tiers.low.submit(1);
  tiers.high.submit(1);
  tiers.medium.submit(2);
  for (auto* tier : tiers.all()) REQUIRE(tier->runs(tier == &tiers.medium ? 2 : 1));
  tiers.low.submit(2);
  tiers.medium.submit(2);
  tiers.high.submit(2);
  {
    MutexLock lock(tiers.mutex);
    tiers.begun.clear();
  }
  // All of these begin on the slot of `low`; the other pools' claims go on.
  const auto finish = [&](Tier& tier, std::size_t begun) {
    tier.finish();
    REQUIRE(eventually([&] { return tiers.order().size() == begun; }));
  };
  finish(tiers.low, 1);
  for (std::size_t begun = 2; begun <= 6; ++begun) {
    // Of its own claims each pool keeps the first; the last one began on the loan.
    Tier& last = tiers.order().back() == "high"     ? tiers.high
                 : tiers.order().back() == "medium" ? tiers.medium
                                                    : tiers.low;
    last.finish_last();
    REQUIRE(eventually([&] { return tiers.order().size() == begun; }));
  }
  CHECK(tiers.order() == std::vector<std::string>{"high", "high", "medium", "medium", "low", "low"});
}

TEST_CASE("a pool's own job that has waited too long goes before helped jobs") {
  const bool asynchronous = GENERATE(false, true);
  const bool aged = GENERATE(false, true);
  Tiers tiers(asynchronous, aged ? Duration::zero() : std::chrono::hours(1));
  tiers.high.submit(1);
  tiers.medium.submit(2);
  tiers.low.submit(1);
  for (auto* tier : tiers.all()) REQUIRE(tier->runs(tier == &tiers.medium ? 2 : 1));
  tiers.low.submit(1);
  tiers.high.submit(3);
  tiers.low.finish();
  REQUIRE(eventually([&] { return tiers.order().size() == 5; }));
  CHECK(tiers.order().back() == (aged ? "low" : "high"));
}
