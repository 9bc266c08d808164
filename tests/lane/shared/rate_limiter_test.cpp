// Shares of a rate, with a clock that the test moves.
#include "lane/shared/rate_limiter.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "catch.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

struct Asker {
  std::uint64_t size = 10;           // bytes of its records
  Duration every = milliseconds(1);  // between two requests
  std::uint64_t most = 256;          // records at a time
  TimePoint next{};
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;

  /// Behaves like a lane: takes what it gets, and asks again when that is used up.
  void come(RateLimiter& rate, TimePoint now) {
    if (now < next) return;
    next = now + every;
    for (auto room = rate.room(this, now); !room.none(); room = rate.room(this, now)) {
      std::uint64_t taken = 0;
      std::uint64_t taken_bytes = 0;
      while (taken < std::min(room.records, most) && taken_bytes < room.bytes) {
        ++taken;
        taken_bytes += size;
      }
      rate.charge(this, now, taken, taken_bytes);
      records += taken;
      bytes += taken_bytes;
    }
  }
};

struct World {
  explicit World(const config::Rate& settings) : rate(settings) {}
  template <class Askers>
  void pass(Askers& askers, Duration time) {
    for (const auto end = now + time; now < end; now += milliseconds(1))
      for (auto& asker : askers) asker.come(rate, now);
  }
  RateLimiter rate;
  TimePoint now{seconds(1)};
};

bool about(std::uint64_t value, double expected, double tolerance) {
  return std::abs(static_cast<double>(value) - expected) <= expected * tolerance;
}

}  // namespace

TEST_CASE("lanes with enough records get equal shares of a rate, however often they ask") {
  const auto rate = GENERATE(20, 100, 5000, 100000);
  World world({static_cast<std::uint64_t>(rate), 0, milliseconds(100)});
  std::array<Asker, 4> askers;
  askers[1].every = milliseconds(50);
  askers[2].most = 1;
  askers[3].every = milliseconds(7);
  world.pass(askers, seconds(20));
  std::uint64_t sum = 0;
  for (const auto& asker : askers) {
    CAPTURE(asker.records);
    CHECK(about(asker.records, rate * 5, 0.1));
    sum += asker.records;
  }
  CHECK(about(sum, rate * 20.1, 0.02));
}

TEST_CASE("a share that is not used goes to the others") {
  World world({1000, 0, milliseconds(100)});
  std::array<Asker, 3> askers;
  Asker gone;
  CHECK_FALSE(world.rate.room(&gone, world.now).none());  // and never comes again
  Asker polite;
  world.rate.leave(&gone, world.now);
  (void)world.rate.room(&polite, world.now);  // keeps a grant for as long as it may
  world.pass(askers, seconds(20));
  for (const auto& asker : askers) CHECK(about(asker.records, 20000.0 / 3, 0.03));
}

TEST_CASE("with more lanes than records a second, each lane takes its turn and none goes early") {
  World world({10, 0, milliseconds(100)});
  std::vector<Asker> askers(100);
  world.pass(askers, seconds(20));
  std::uint64_t sum = 0;
  for (const auto& asker : askers) {
    CHECK(asker.records >= 1);
    CHECK(asker.records <= 3);
    sum += asker.records;
  }
  CHECK(about(sum, 201, 0.03));
}

TEST_CASE("bytes are shared, too, for records of any size, within the rate") {
  const auto size = GENERATE(100, 5000, 500000);
  World world({0, 100000, milliseconds(100)});
  std::array<Asker, 4> askers;
  for (auto& asker : askers) asker.size = static_cast<std::uint64_t>(size);
  world.pass(askers, seconds(100));
  std::uint64_t sum = 0;
  for (const auto& asker : askers) {
    CHECK(about(asker.bytes, 2500000, 0.21));
    sum += asker.bytes;
  }
  CHECK(about(sum, 10010000, 0.11));  // one record of the largest size may be ahead
}

TEST_CASE("a waiting lane learns when its turn comes") {
  World world({10, 0, milliseconds(100)});
  std::array<Asker, 3> askers;
  Asker first;
  first.come(world.rate, world.now);
  CHECK(world.rate.waits(&first, world.now));
  world.rate.leave(&first, world.now);
  for (auto& asker : askers) CHECK(world.rate.room(&asker, world.now).none());
  std::array<TimePoint, 3> ready;
  for (std::size_t i = 0; i < 3; ++i) {
    ready[i] = world.rate.ready_at(&askers[i], world.now);
    CHECK(ready[i] >= world.now + milliseconds(100 * static_cast<int>(i + 1) - 1));
    CHECK(ready[i] <= world.now + milliseconds(100 * static_cast<int>(i + 1) + 1));
  }
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(world.rate.waits(&askers[i], ready[i] - milliseconds(2)));
    CHECK_FALSE(world.rate.waits(&askers[i], ready[i] + milliseconds(1)));
    CHECK(world.rate.room(&askers[i], ready[i] + milliseconds(1)).records == 1);
  }
}

TEST_CASE("after a change of the rate, all lanes are asked again") {
  World world({1, 0, seconds(1)});
  std::array<Asker, 2> askers;
  world.pass(askers, seconds(1));
  CHECK(world.rate.waits(&askers[1], world.now));
  world.rate.change({2000, 0, milliseconds(100)}, world.now);
  for (auto& asker : askers) asker.records = 0;
  world.pass(askers, seconds(10));
  for (const auto& asker : askers) CHECK(about(asker.records, 10000, 0.03));
}
