#include "lane/virtual_clock.h"

#include <atomic>

#include "catch.h"

namespace {

std::atomic<const laneway::lane::VirtualClock*> current{nullptr};

}  // namespace

// std::chrono::steady_clock::now() and std::chrono::system_clock::now(): a time point is a number of
// nanoseconds.
extern "C" {
std::int64_t __real__ZNSt6chrono3_V212steady_clock3nowEv();
std::int64_t __real__ZNSt6chrono3_V212system_clock3nowEv();
std::int64_t __wrap__ZNSt6chrono3_V212steady_clock3nowEv();
std::int64_t __wrap__ZNSt6chrono3_V212system_clock3nowEv();

std::int64_t __wrap__ZNSt6chrono3_V212steady_clock3nowEv() {
  const auto* clock = current.load(std::memory_order_acquire);
  return clock == nullptr ? __real__ZNSt6chrono3_V212steady_clock3nowEv() : clock->steady();
}
std::int64_t __wrap__ZNSt6chrono3_V212system_clock3nowEv() {
  const auto* clock = current.load(std::memory_order_acquire);
  return clock == nullptr ? __real__ZNSt6chrono3_V212system_clock3nowEv() : clock->system();
}
}

namespace laneway::lane {

VirtualClock::VirtualClock(const TimePoint& now)
    : now_(now), begun_(now), wall_origin_(__real__ZNSt6chrono3_V212system_clock3nowEv()) {
  const VirtualClock* none = nullptr;
  REQUIRE(current.compare_exchange_strong(none, this));
}

VirtualClock::~VirtualClock() { current.store(nullptr, std::memory_order_release); }

TEST_CASE("the clocks follow a virtual clock as long as it lives") {
  const auto before = wall_clock_ms();
  TimePoint now = SteadyClock::now();
  {
    const VirtualClock clock(now);
    CHECK(SteadyClock::now() == now);
    const auto begun = wall_clock_ms();
    now += std::chrono::hours(6);
    CHECK(SteadyClock::now() == now);
    CHECK(wall_clock_ms() - begun == 6 * 3600 * 1000);
  }
  CHECK(SteadyClock::now() < now);
  CHECK(wall_clock_ms() - before < 3600 * 1000);
}

}  // namespace laneway::lane
