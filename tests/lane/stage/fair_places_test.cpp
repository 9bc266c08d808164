// Failed records that are due and new ones share what their subscriber takes (lane/stage/line.h).
#include "lane/stage/slow_subscriber.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

constexpr Duration most_delay = milliseconds(200);  // retry.max_backoff
constexpr Duration turn = milliseconds(25);         // Line: between_turns, and steps of the simulation

/// One record in 20 fails once.
bool some_fail(const TimedCall& call) { return call.offset % 20 == 7 && call.attempt == 1; }

}  // namespace

TEST_CASE("a failed record runs again when it is due, though new ones wait for its subscriber") {
  const std::uint32_t retry_workers = GENERATE(0, 2);
  SlowSubscriber acme(1);
  acme.fails = some_fail;
  acme.each.workers = 4;
  acme.begin(1000, retry_workers);
  acme.pass(seconds(10));
  const auto& lane = *acme.all.front();
  CHECK(acme.begun(true, {}) >= 15);
  // Of each two places that become free, a failed record gets one; four become free in each 100 ms.
  CHECK(SlowSubscriber::longest_wait_of_failed(lane, acme.now) <= most_delay + acme.takes + turn);
  CHECK(SlowSubscriber::longest_wait_of_new(lane, acme.now - seconds(10), acme.now) <= acme.takes + turn);
  CHECK(lane.work.calls.size() >= 390);  // no place stays free
}

TEST_CASE("a failed record runs again when it is due, though other lanes wait for its subscriber") {
  const std::uint32_t retry_workers = GENERATE(0, 2);
  SlowSubscriber acme(4);
  acme.fails = some_fail;
  acme.each.workers = 2;
  acme.begin(1000, retry_workers);
  acme.pass(seconds(30));
  // With eight askers, an asker gets one of each eight places; two become free in each 100 ms.
  const auto bound = 4 * acme.takes + turn;
  for (const auto& lane : acme.all) {
    CHECK(SlowSubscriber::longest_wait_of_failed(*lane, acme.now) <= most_delay + bound);
    CHECK(SlowSubscriber::longest_wait_of_new(*lane, acme.now - seconds(30), acme.now) <= bound);
    CHECK(lane->work.calls.size() >= 130);  // a quarter of what the subscriber takes is 150
  }
  CHECK(acme.begun(true, {}) + acme.begun(false, {}) >= 590);
}

TEST_CASE("failed records of one lane come in turn with new records of others") {
  SlowSubscriber acme(3);
  acme.each.workers = 1;
  acme.begin(1000);
  acme.fails = [&](const auto& call) { return acme.all[2]->work.calls.size() > 0 && some_fail(call); };
  acme.pass(seconds(30));
  CHECK(SlowSubscriber::longest_wait_of_failed(*acme.all[2], acme.now) <= most_delay + 6 * acme.takes + turn);
}

TEST_CASE("a failed record gets its turn in the rate of its subscriber") {
  const std::size_t lanes = GENERATE(1, 3);
  SlowSubscriber acme(lanes, milliseconds(10));
  acme.fails = some_fail;
  acme.each.rate = {20, 0, milliseconds(100)};
  acme.begin(1000);
  acme.pass(seconds(30));
  CHECK(acme.begun(true, {}) >= 25);
  // 20 a second, for two askers in each lane.
  const auto bound = milliseconds(50) * static_cast<std::int64_t>(2 * lanes) + turn;
  for (const auto& lane : acme.all) {
    CHECK(SlowSubscriber::longest_wait_of_failed(*lane, acme.now) <= most_delay + bound);
    CHECK(SlowSubscriber::longest_wait_of_new(*lane, acme.now - seconds(30), acme.now) <= bound);
  }
  CHECK(acme.begun(true, {}) + acme.begun(false, {}) >= 590);
}

TEST_CASE("while every record fails, failed and new ones get half of the places each") {
  const bool by_rate = GENERATE(false, true);
  const std::uint32_t retry_workers = GENERATE(0, 2);
  SlowSubscriber acme(2);
  const auto start = acme.now;
  acme.fails = [&](const auto&) { return acme.now < start + seconds(10); };
  if (by_rate)
    acme.each.rate = {20, 0, milliseconds(100)};
  else
    acme.each.workers = 2;
  acme.begin(10'000, retry_workers);
  acme.pass(seconds(10));
  const auto half = acme.begun(false, start + seconds(2));
  CHECK((half >= 70 && half <= 90));  // of 160
  const auto failed = acme.begun(true, start + seconds(2));
  CHECK((failed >= 70 && failed <= 90));
  // Then all failed records run again, and no lane's new ones have to wait for them.
  acme.pass(seconds(20));
  for (const auto& lane : acme.all) {
    CHECK(SlowSubscriber::longest_wait_of_new(*lane, start + seconds(1), acme.now) <= 2 * acme.takes + turn);
    CHECK(lane->test.lane->stats().waiting_retries.get() == 0);
  }
}
