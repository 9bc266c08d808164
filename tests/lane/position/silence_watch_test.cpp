#include "lane/position/silence_watch.h"

#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "catch.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

constexpr Duration watch_unit = seconds(30);
using Steps = std::vector<SilenceStep>;

/// A watch that receives an answer every second: the log goes on.
struct WatchedSilence {
  Steps pass(Duration time, bool worth_restarting = true) {
    Steps steps;
    for (Duration passed{}; passed < time; passed += seconds(1)) {
      now += seconds(1);
      watch.hear(true, now);
      while (const auto step = watch.step(worth_restarting)) steps.push_back(*step);
    }
    return steps;
  }

  TimePoint now{std::chrono::hours(1)};
  SilenceWatch watch{watch_unit};
};

}  // namespace

TEST_CASE("the steps against a silence come after 1, 2, 4 and 8 units of time") {
  WatchedSilence silence;
  silence.watch.came(silence.now);
  CHECK(silence.pass(watch_unit) == Steps{});  // from the first answer on
  CHECK(silence.pass(seconds(1)) == Steps{SilenceStep::seek});
  CHECK(silence.watch.due() == 2 * watch_unit);
  CHECK(silence.pass(watch_unit - seconds(1)) == Steps{});
  CHECK(silence.pass(seconds(1)) == Steps{SilenceStep::pause});
  CHECK(silence.pass(2 * watch_unit - seconds(1)) == Steps{});
  CHECK(silence.pass(seconds(1)) == Steps{SilenceStep::rejoin});
  CHECK(silence.pass(4 * watch_unit - seconds(1)) == Steps{});
  CHECK(silence.pass(seconds(1)) == Steps{SilenceStep::restart});
}

TEST_CASE("a partition without a restart is sought again and again") {
  WatchedSilence silence;
  silence.watch.came(silence.now);
  (void)silence.pass(4 * watch_unit + seconds(1), false);
  CHECK(silence.pass(80 * watch_unit, false) == Steps(10, SilenceStep::seek));
}

TEST_CASE("a silence ends with a record, or with the answer that there is no record") {
  const bool answered = GENERATE(false, true);
  WatchedSilence silence;
  silence.watch.came(silence.now);
  (void)silence.pass(3 * watch_unit);
  if (answered)
    silence.watch.hear(false, silence.now);
  else
    silence.watch.came(silence.now);
  CHECK(silence.watch.silent() == Duration::zero());
  CHECK(silence.pass(watch_unit + seconds(1)) == Steps{SilenceStep::seek});
}

TEST_CASE("a step of an earlier lane is not repeated") {
  WatchedSilence silence;
  silence.watch.came(silence.now);
  silence.watch.has_tried(SilenceStep::rejoin);
  CHECK(silence.pass(4 * watch_unit) == Steps{});
  CHECK(silence.pass(seconds(1)) == Steps{SilenceStep::restart});
}

TEST_CASE("the leader is asked once a unit, and twice during a silence") {
  SilenceWatch watch(watch_unit);
  const TimePoint now{std::chrono::hours(1)};
  watch.came(now);
  CHECK(watch.next_question() == now + watch_unit);
  watch.asked(now);
  CHECK(watch.next_question() == now + watch_unit);
  watch.hear(true, now);
  CHECK(watch.next_question() == now + watch_unit / 2);
  watch.asked(now + watch_unit);
  CHECK(watch.next_question() == now + watch_unit + watch_unit / 2);
}

TEST_CASE("an answer that comes hours late causes one step, and the next step has its own time") {
  WatchedSilence silence;
  silence.watch.came(silence.now);
  silence.watch.hear(true, silence.now);
  silence.now += std::chrono::hours(3);
  silence.watch.hear(true, silence.now);
  CHECK(silence.watch.step(true) == SilenceStep::seek);
  CHECK_FALSE(silence.watch.step(true));
  CHECK(silence.pass(watch_unit - seconds(1)) == Steps{});
  CHECK(silence.pass(seconds(1)) == Steps{SilenceStep::pause});
}

TEST_CASE("only time between two successive answers counts, and steps come in order") {
  REQUIRE(rc::check("silence watch", [](const std::vector<std::uint8_t>& events) {
    SilenceWatch watch(watch_unit);
    TimePoint now{std::chrono::hours(1)};
    Duration counted{};
    bool counts = false;
    int next = 0;
    watch.came(now);
    for (const auto event : events) {
      const Duration passed = seconds(event % 64);
      now += passed;
      if (event >= 250) {
        watch.came(now);
        counted = {};
        next = 0;
      } else if (event >= 200) {
        watch.interrupted();
      } else {
        watch.hear(true, now);
        if (counts) counted += std::min(passed, watch_unit);
      }
      counts = event < 200;
      RC_ASSERT(watch.silent() == counted);
      if (const auto step = watch.step(true)) {
        RC_ASSERT(static_cast<int>(*step) == next);
        RC_ASSERT(counted >= watch_unit * (1 << next));
        next = std::min(next + 1, 3);
      }
    }
  }));
}
