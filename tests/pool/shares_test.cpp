// What pools that help, and the pools that they help, get when both have more jobs than they can run.
#include <dlfcn.h>

#include <ctime>

#include "simulation.h"
#include "tiers.h"

using namespace laneway;
using namespace laneway::pool;

namespace {

thread_local std::int64_t manual_ns = 0;  // 0: the machine's clock

constexpr Duration aged = seconds(5);
constexpr std::uint32_t long_queue = 1'000'000;

Limits aging(std::uint32_t workers) {
  Limits result = limits(workers, long_queue);
  result.longest_wait = aged;
  return result;
}

/// The time of `slots` slots that belongs to their pool's own jobs, apart from what the granularity takes.
Duration share_of(std::uint32_t slots, Duration time) {
  return from_seconds(own_share * slots * to_seconds(time));
}

struct Lengths {
  Duration high;
  Duration low;
};

/// The time of the claims of `high`, which always has jobs, and of those of its helpers.
struct Got {
  Duration high;
  std::vector<Duration> low;
};
Got got_in(Duration time, Lengths takes, const std::vector<std::uint32_t>& helpers, bool backlog) {
  Simulation simulation;
  auto& high = simulation.add(limits(1, long_queue), takes.high);
  high.submit_endlessly();
  std::vector<Simulation::Tier*> low;
  for (const auto workers : helpers) low.push_back(&simulation.add(aging(workers), takes.low, {&high}));
  for (auto* tier : low)
    if (backlog) tier->submit_endlessly();
  simulation.run_for(time);
  Got result{high.worked(), {}};
  for (auto* tier : low) result.low.push_back(tier->worked());
  return result;
}

}  // namespace

// Stands before the system's.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  using Read = int (*)(clockid_t, timespec*);
  static const auto read = reinterpret_cast<Read>(dlsym(RTLD_NEXT, "clock_gettime"));
  if (manual_ns == 0 || clock != CLOCK_MONOTONIC) return read(clock, time);
  time->tv_sec = manual_ns / 1'000'000'000;
  time->tv_nsec = manual_ns % 1'000'000'000;
  return 0;
}

namespace laneway::pool {

ManualClock::ManualClock() { advance_to(now()); }
ManualClock::~ManualClock() { manual_ns = 0; }
void ManualClock::advance_to(TimePoint time) { manual_ns = time.time_since_epoch().count(); }

}  // namespace laneway::pool

TEST_CASE(
    "beside endless jobs of its helpers, a pool with endless jobs keeps 19 of 20 parts, and they get one") {
  const auto [takes, time] =
      GENERATE(table<Lengths, Duration>({{{milliseconds(20), milliseconds(20)}, seconds(500)},
                                         {{milliseconds(20), seconds(2)}, seconds(500)},
                                         {{seconds(2), milliseconds(20)}, seconds(500)},
                                         {{seconds(2), seconds(3)}, seconds(5000)}}));
  const auto helpers = GENERATE(std::vector<std::uint32_t>{1}, std::vector<std::uint32_t>{8},
                                std::vector<std::uint32_t>{16}, std::vector<std::uint32_t>{1, 2, 1, 4});
  const auto alone = got_in(time, takes, helpers, false);
  const auto beside = got_in(time, takes, helpers, true);
  CAPTURE(takes.high, takes.low, helpers, alone.high, beside.high, beside.low);
  CHECK(to_seconds(beside.high) >= 0.95 * to_seconds(alone.high));
  for (std::size_t i = 0; i < helpers.size(); ++i) {
    // Not in the time before the jobs have waited too long; with a claim of either pool more or less.
    const auto promised = share_of(helpers[i], time - aged);
    CHECK(beside.low[i] >= promised - share_of(helpers[i], takes.high) - takes.low);
    CHECK(beside.low[i] <= promised + takes.low);
  }
}

TEST_CASE("a helper's backlog of 3,000 jobs takes nothing from a pool that needs a part of the helper") {
  const auto backlog = GENERATE(0, 3000);
  Simulation simulation;
  auto& high = simulation.add(limits(1, long_queue), milliseconds(20));
  auto& low = simulation.add(aging(1), milliseconds(20), {&high});
  low.submit(backlog);
  high.submit_each(std::chrono::microseconds(14'286));  // 70 a second, 1.4 workers
  simulation.run_for(seconds(80));
  CHECK(high.begun() == 5600);
  CHECK(high.longest_wait() < (backlog > 0 ? milliseconds(50) : milliseconds(10)));
  if (backlog > 0) CHECK(low.worked() >= seconds(47));  // what is left: 0.6 workers
}

TEST_CASE("each of three tiers gets its share while the higher ones have endless jobs") {
  Simulation simulation;
  auto& high = simulation.add(limits(1, long_queue), milliseconds(20));
  auto& medium = simulation.add(aging(2), milliseconds(100), {&high});
  auto& low = simulation.add(aging(1), milliseconds(500), {&high, &medium});
  for (auto* tier : {&high, &medium, &low}) tier->submit_endlessly();
  const auto time = seconds(1000);
  simulation.run_for(time);
  CHECK(high.worked() >= share_of(4, 19 * time));
  CHECK(medium.worked() >= share_of(2, time - aged) - milliseconds(200));
  CHECK(low.worked() >= share_of(1, time - aged) - milliseconds(500));
}

TEST_CASE("a pool whose helped pools have no jobs gets all of its slots") {
  Simulation simulation;
  auto& high = simulation.add(limits(1, long_queue), milliseconds(20));
  auto& low = simulation.add(aging(3), milliseconds(20), {&high});
  low.submit(100'000);
  const auto time = seconds(100);
  simulation.run_for(time);
  CHECK(low.worked() >= 3 * time);
  // Neither the time that it used nor the age of its jobs counts after that.
  high.submit_endlessly();
  const auto before = low.worked();
  simulation.run_for(time);
  CHECK(high.worked() >= share_of(4, 19 * time));
  CHECK(low.worked() - before >= share_of(3, time) - milliseconds(60));
}

TEST_CASE("own jobs within the longest wait begin only when the helped pools have no jobs") {
  Simulation simulation;
  auto& high = simulation.add(limits(1, long_queue), milliseconds(20));
  auto& low = simulation.add(aging(1), milliseconds(20), {&high});
  high.submit_endlessly();
  simulation.run_for(std::chrono::hours(1));
  low.submit(3);
  simulation.run_for(aged);
  CHECK(low.begun() == 0);
  // The hour before has not saved time for all of them.
  simulation.run_for(milliseconds(100));
  CHECK(low.begun() == 1);
  simulation.run_for(seconds(100));
  CHECK(low.begun() == 3);
  low.submit();
  simulation.run_for(aged);
  CHECK(low.begun() == 3);
  simulation.run_for(milliseconds(100));
  CHECK(low.begun() == 4);
}

TEST_CASE("a job that is found stuck takes no more time from the share of its pool") {
  Limits of_low = aging(1);
  of_low.job_deadline = seconds(10);
  of_low.stuck_after = seconds(10);
  Simulation simulation;
  auto& high = simulation.add(limits(1, long_queue), milliseconds(20));
  auto& low = simulation.add(of_low, milliseconds(20), {&high});
  high.submit_endlessly();
  low.submit_endlessly();
  low.hang();
  for (int second = 0; second < 10'000; ++second) {
    simulation.run_for(seconds(1));
    low->tick(ManualClock::now());
  }
  REQUIRE(low->snapshot().stuck == 1);
  const auto stuck_for = seconds(21);
  CHECK(low.worked() + stuck_for >= share_of(1, seconds(10'000) - aged));
}

TEST_CASE("the time for which a helper keeps a slot for a job without a permit counts in its share") {
  Permits permits(1);
  Limits of_low = aging(1);
  of_low.permits = &permits;
  Simulation simulation;
  auto& high = simulation.add(limits(1, long_queue), milliseconds(20));
  auto& low = simulation.add(of_low, milliseconds(20), {&high});
  Limits of_other = limits(1, long_queue);
  of_other.permits = &permits;
  auto& other = simulation.add(of_other, seconds(1));  // the same downstream, from another lane
  for (auto* tier : {&high, &low, &other}) tier->submit_endlessly();
  const auto time = seconds(10'000);
  simulation.run_for(time);
  CHECK(high.worked() >= share_of(2, 19 * time));
  CHECK(low.begun() >= 450);  // one in 20 times a claim and the wait for its permit, which is up to 1 s
}

TEST_CASE("after an aged job of its own, a worker runs jobs of the helped pool, then own ones again") {
  const bool asynchronous = GENERATE(false, true);
  Tiers tiers(asynchronous, Duration::zero());
  tiers.high.submit(1);
  tiers.medium.submit(2);
  tiers.low.submit(1);
  for (auto* tier : tiers.all()) REQUIRE(tier->runs(tier == &tiers.medium ? 2 : 1));
  const auto runs_as_number = [&](std::size_t place) {
    REQUIRE(eventually([&] { return tiers.order().size() == place; }));
    return tiers.order().back();
  };
  const auto submitted = SteadyClock::now();
  tiers.low.submit(2);
  tiers.high.submit(3);
  tiers.low.finish();
  CHECK(runs_as_number(5) == "low");
  // It runs for longer than it waited, which uses up the share.
  const auto begun = SteadyClock::now();
  REQUIRE(eventually([&] { return SteadyClock::now() - begun > begun - submitted; }));
  tiers.low.finish();
  CHECK(runs_as_number(6) == "high");
  // The share comes back with time. The claim began after its submission, and ended before now.
  const auto until = SteadyClock::now() + 20 * (SteadyClock::now() - submitted);
  REQUIRE(eventually([&] { return SteadyClock::now() > until; }));
  tiers.high.finish_last();
  CHECK(runs_as_number(7) == "low");
}
