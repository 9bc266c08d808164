#include "delivery/rate/pace.h"

#include <rapidcheck.h>
#include <algorithm>
#include <cmath>
#include <deque>

#include "catch.h"

using namespace laneway;
using namespace laneway::delivery;

namespace {

const TimePoint pace_start = TimePoint{} + std::chrono::hours(1);

/// A pace that counted `rate` calls a second which worked, and then there were too many again.
struct Slowed {
  explicit Slowed(std::uint64_t rate, std::optional<Duration> after = {}) {
    pace.throttled(now, {});
    for (int i = 0; i < 400; ++i, now += milliseconds(10)) pace.succeeded(now, rate / 100);
    for (std::uint64_t i = 0; i < rate / 2; ++i) pace.throttled(now, after);
  }
  /// Calls that may begin within the time, by somebody who asks every millisecond.
  std::uint64_t begun_within(Duration time) {
    std::uint64_t begun = 0;
    for (const auto end = now + time; now < end; now += milliseconds(1)) {
      const auto room = pace.room(now);
      if (room == Pace::unlimited) return room;
      pace.begin(now, room);
      begun += room;
    }
    return begun;
  }

  Pace pace;
  TimePoint now = pace_start;
};

/// A service that takes `rate` calls a second and answers 429 to the others, some time later; and somebody
/// who wants to call it more often.
class Limited {
 public:
  Limited(double rate, double burst, int wanted, Duration latency)
      : bucket_(rate, burst), wanted_(wanted), latency_(latency) {}

  void change(double rate) { bucket_.change(now_, rate, rate / 2); }
  void run(Duration time) {
    for (const auto end = now_ + time; now_ < end; now_ += milliseconds(1)) tick();
  }
  void forget() { taken_ = refused_ = 0; }
  double taken() const { return taken_; }
  double refused_share() const { return refused_ / (taken_ + refused_); }

 private:
  struct Call {
    TimePoint ends;
    bool taken;
  };

  void tick() {
    for (; !in_flight_.empty() && in_flight_.front().ends <= now_; in_flight_.pop_front()) {
      const bool taken = in_flight_.front().taken;
      taken ? pace_.succeeded(now_, 1) : pace_.throttled(now_, {});
      ++(taken ? taken_ : refused_);
    }
    waiting_ = std::min(waiting_ + wanted_ / 1000.0, 100.0);
    const auto calls = std::min(pace_.room(now_), static_cast<std::uint32_t>(waiting_));
    pace_.begin(now_, calls);
    waiting_ -= calls;
    for (std::uint32_t i = 0; i < calls; ++i) {
      const bool taken = bucket_.available(now_) >= 1;
      if (taken) bucket_.take(now_, 1);
      in_flight_.push_back({now_ + latency_, taken});
    }
  }

  Pace pace_;
  TokenBucket bucket_;
  const double wanted_;
  const Duration latency_;
  TimePoint now_ = pace_start;
  double waiting_ = 0;
  std::deque<Call> in_flight_;
  double taken_ = 0;
  double refused_ = 0;
};

}  // namespace

TEST_CASE("calls are not limited until the downstream answers 429") {
  Pace pace;
  pace.succeeded(pace_start, 1000);
  CHECK_FALSE(pace.limited());
  CHECK(pace.room(pace_start) == Pace::unlimited);
  CHECK(pace.ready_at(pace_start) == pace_start);
}

TEST_CASE("the first 429 does not limit calls but starts the count") {
  Pace pace;
  pace.throttled(pace_start, seconds(5));
  CHECK(pace.limited());
  CHECK(pace.room(pace_start) == Pace::unlimited);
}

TEST_CASE("the requested delay holds for all calls if no call has succeeded since the first 429") {
  Pace pace;
  pace.throttled(pace_start, {});
  pace.throttled(pace_start + milliseconds(1), milliseconds(5));
  CHECK(pace.room(pace_start + milliseconds(2)) == 0);
  CHECK(pace.ready_at(pace_start + milliseconds(2)) >= pace_start + milliseconds(6));
  CHECK(pace.room(pace_start + milliseconds(6)) <= 1);  // and then not all at once
  CHECK(pace.room(pace_start + seconds(1) + milliseconds(6)) >= 1);
}

TEST_CASE("the delay that one answer requests holds back no other call while calls succeed") {
  Pace pace;
  pace.throttled(pace_start, {});
  pace.succeeded(pace_start + milliseconds(10), 1);
  for (int i = 1; i <= 2; ++i) pace.throttled(pace_start + milliseconds(10 + i), std::chrono::hours(1));
  CHECK(pace.room(pace_start + milliseconds(20)) == 0);
  Pace calm;
  calm.throttled(pace_start, {});
  calm.succeeded(pace_start + milliseconds(10), 1);
  calm.throttled(pace_start + milliseconds(11), std::chrono::hours(1));
  CHECK(calm.room(pace_start + milliseconds(20)) == Pace::unlimited);
}

TEST_CASE("a record that gets a 429 again slows down no other record while calls succeed") {
  Pace pace;
  auto now = pace_start;
  pace.throttled(now, {});
  for (int i = 0; i < 1000; ++i, now += milliseconds(10)) {
    if (i < 500) pace.succeeded(now, 1);
    pace.throttled(now, std::chrono::hours(1), true);
    if (i == 499) CHECK(pace.room(now) == Pace::unlimited);
  }
  CHECK(pace.room(now) == 0);  // nothing else has worked since
}

TEST_CASE("calls that did not begin may begin later, but at most a twentieth of a second's calls at once") {
  Slowed slowed(1000);
  slowed.now += milliseconds(500);
  const auto most = slowed.pace.room(slowed.now);
  CHECK(most == Approx(35).margin(3));
  slowed.pace.begin(slowed.now, most);
  CHECK(slowed.pace.room(slowed.now) == 0);
  slowed.pace.begin(slowed.now, -5);
  CHECK(slowed.pace.room(slowed.now) == 5);
}

TEST_CASE("the pace becomes seven tenths of the recent successes") {
  Slowed slowed(100);
  CHECK(slowed.pace.limited());
  CHECK(slowed.pace.rate() == Approx(70).epsilon(0.06));
  CHECK(slowed.pace.room(slowed.now) == 0);
  CHECK(slowed.begun_within(seconds(1)) == Approx(70).epsilon(0.06));
}

TEST_CASE("the pace is at least one call a second, even without successes") {
  Pace pace;
  auto now = pace_start;
  std::uint32_t begun = 0;
  for (; now < pace_start + std::chrono::minutes(5); now += milliseconds(10)) {
    const auto room = begun == 0 ? 1 : pace.room(now);
    if (room == 0) continue;
    pace.begin(now, room);
    begun += room;
    pace.throttled(now, {});
  }
  CHECK(begun == Approx(300).margin(3));
}

TEST_CASE("no call begins before the requested delay is over, and the pace does not rise meanwhile") {
  Slowed slowed(100, seconds(20));
  CHECK(slowed.pace.ready_at(slowed.now) == slowed.now + seconds(20));
  CHECK(slowed.begun_within(seconds(20)) == 0);
  CHECK(slowed.begun_within(seconds(1)) == Approx(70).epsilon(0.15));
}

TEST_CASE("calls from before the pace began are not counted against it") {
  Pace pace;
  pace.throttled(pace_start, {});
  auto now = pace_start + seconds(2);
  REQUIRE(pace.room(now) == Pace::unlimited);
  for (int i = 0; i < 10; ++i)
    pace.throttled(now, {});  // the first answer comes before all of them have begun
  REQUIRE(pace.rate() == 1);
  pace.begin(now, 256);
  CHECK(pace.ready_at(now) <= now + seconds(1));
}

TEST_CASE("a downstream that took no calls for a while gets the previous rate within ten seconds") {
  Limited service(0.001, 1, 200, milliseconds(5));
  service.run(seconds(12));
  service.change(100'000);
  service.run(seconds(10));
  service.forget();
  service.run(seconds(1));
  CHECK(service.taken() >= 200);
}

TEST_CASE("a shorter requested delay does not end a longer one") {
  Slowed slowed(100, seconds(20));
  slowed.pace.throttled(slowed.now + milliseconds(1), seconds(1));
  CHECK(slowed.begun_within(seconds(20)) == 0);
}

TEST_CASE("answers to calls that began before a slow-down slow down only once") {
  Slowed slowed(100);
  const auto rate = slowed.pace.rate();
  for (int i = 0; i < 9; ++i) slowed.pace.throttled(slowed.now += milliseconds(100), {});
  CHECK(slowed.pace.rate() == rate);
  slowed.pace.throttled(slowed.now += milliseconds(100), {});
  CHECK(slowed.pace.rate() < rate);
}

TEST_CASE("each second raises the pace by a tenth, and by three tenths after ten seconds") {
  Slowed slowed(100);
  const auto after = [&](int time) {
    while (slowed.now < pace_start + seconds(4 + time) + milliseconds(1))
      slowed.begun_within(milliseconds(1));
    return slowed.pace.rate();
  };
  const auto first = after(0);
  CHECK(after(1) == Approx(first * 1.1));
  CHECK(after(10) == Approx(first * std::pow(1.1, 10)));
  CHECK(after(11) == Approx(first * std::pow(1.1, 10) * 1.3));
}

TEST_CASE("a pace that delays no call ends after half a minute") {
  Slowed slowed(100);
  CHECK(slowed.begun_within(milliseconds(10)) == 0);
  slowed.now += seconds(29);
  CHECK(slowed.pace.room(slowed.now) < Pace::unlimited);
  slowed.now += seconds(2);
  CHECK(slowed.pace.room(slowed.now) == Pace::unlimited);
  CHECK_FALSE(slowed.pace.limited());
}

TEST_CASE("a new pace begins with the successes at that time") {
  Slowed slowed(100);
  slowed.now += std::chrono::minutes(1);
  REQUIRE(slowed.pace.room(slowed.now) == Pace::unlimited);
  slowed.pace.throttled(slowed.now, {});
  for (int i = 0; i < 400; ++i) slowed.pace.succeeded(slowed.now += milliseconds(10), 10);
  for (int i = 0; i < 500; ++i) slowed.pace.throttled(slowed.now, {});
  CHECK(slowed.pace.rate() == Approx(700).epsilon(0.06));
}

TEST_CASE("a service with a limit is used nearly up to its limit, and exceeds it only a little") {
  REQUIRE(rc::check([] {
    const double rate = *rc::gen::inRange(50, 200);
    const double burst = rate * *rc::gen::inRange(10, 150) / 100;
    const auto latency = milliseconds(*rc::gen::inRange(1, 300));
    Limited service(rate, burst, *rc::gen::inRange(300, 1000), latency);
    service.run(seconds(10));
    service.forget();
    service.run(seconds(60));
    RC_LOG() << "taken " << service.taken() / 60 / rate << ", refused " << service.refused_share();
    RC_ASSERT(service.taken() >= 0.8 * 60 * rate);
    RC_ASSERT(service.refused_share() < 0.1);
  }));
}

TEST_CASE("a limit that changes is followed within twenty seconds") {
  REQUIRE(rc::check([] {
    const auto latency = milliseconds(*rc::gen::inRange(1, 300));
    Limited service(100, 50, 500, latency);
    service.run(seconds(*rc::gen::inRange(10, 60)));
    for (const double rate : {20, 200}) {
      service.change(rate);
      service.run(seconds(20));
      service.forget();
      service.run(seconds(20));
      RC_LOG() << "limit " << rate << ": taken " << service.taken() / 20 / rate << ", refused "
               << service.refused_share();
      RC_ASSERT(service.taken() >= 0.8 * 20 * rate);
      RC_ASSERT(service.refused_share() < 0.1);
    }
  }));
}

TEST_CASE("a few records that always get a 429 do not slow down the others") {
  Pace pace;
  auto now = pace_start;
  for (int i = 0; i < 60'000; ++i, now += milliseconds(1)) {
    if (i % 500 == 0) pace.throttled(now, {});
    if (i % 5 == 0 && pace.room(now) > 0) pace.begin(now, 1), pace.succeeded(now, 1);
  }
  CHECK((pace.rate() == 0 || pace.rate() > 200));
}

TEST_CASE("a recovered downstream is called without a limit again") {
  Limited service(0.001, 1, 500, milliseconds(5));
  service.run(seconds(15));
  service.change(100'000);
  service.run(seconds(60));
  service.forget();
  service.run(seconds(10));
  CHECK(service.taken() == Approx(5000).epsilon(0.01));
}
