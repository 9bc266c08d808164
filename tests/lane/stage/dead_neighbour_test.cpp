// One downstream of several is out for long: what its lane, its neighbours and the readers of the status see.
#include "lane/stage/pooled_lane.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

namespace {

constexpr DownstreamRules shipped{.breaker = {.failures = 5, .window = seconds(30), .probe = seconds(5)}};

/// Two subscribers of each event as in config/examples/webhook-fanout.yaml; the one with the name "dead" is
/// out.
struct Fan : PooledLane {
  Fan(KeyedLimits& all, ScriptedHandler& to_letters) {
    context.forward = &to_letters;
    context.lanes.pause_after = milliseconds(500);
    add_pool("fan", fan, 2, 256);
    auto& pool = add_pool("send", send, 8, 256);
    pool.settings.retry_workers = 2;
    pool.settings.each = each();
    pool.each = &all;
    in_a_chain();
  }
  ~Fan() { lane.reset(); }
  static config::Each each() {
    config::Each each;
    each.by = {config::Selector::Kind::part, ""};
    each.rate.records = 10;
    each.rate.burst = milliseconds(500);
    each.workers = 4;
    each.longest_wait = std::chrono::hours(1);
    return each;
  }
  /// How many records came to the subscriber.
  std::size_t sent(const std::string& subscriber) const {
    const auto parts = send.parts();
    return static_cast<std::size_t>(std::count(parts.begin(), parts.end(), subscriber));
  }

  ScriptedHandler fan{[](const auto&) { return results({"alive", "dead"}); }};
  ScriptedHandler send{[](const handler::Attempt& attempt) {
    return attempt.part == "dead" ? Outcome::unavailable("refused") : Outcome::done();
  }};
};

}  // namespace

TEST_CASE("a lane sleeps while the rate of its pool allows nothing") {
  ScriptedHandler slow;
  RateLimiter rate({.records = 1, .burst = seconds(1)});
  PooledLane test;
  test.add_pool("slow", slow).rate = &rate;
  test.partition.add_run(0, 20);
  test.begin();
  REQUIRE(test.until([&] {
    test.pass(milliseconds(10));
    return slow.count() == 1;
  }));
  REQUIRE(test.until_outstanding(0));
  CHECK(test.lane->detail(test.now).held_by == "rate limit");
  CHECK(test.lane->tick(test.now) - test.now >= milliseconds(40));
}

TEST_CASE("a lane sleeps while the rate of its pool lets no failed record run again") {
  ScriptedHandler failing([](const auto&) { return Outcome::retry("again"); });
  RateLimiter rate({.records = 1, .burst = seconds(1)});
  PooledLane test;
  test.context.retry.backoff = milliseconds(10);
  test.add_pool("failing", failing).rate = &rate;
  test.partition.add_run(0, 1);
  test.begin();
  REQUIRE(test.until([&] {
    test.pass(milliseconds(10));
    return failing.count() == 1;
  }));
  REQUIRE(test.until_outstanding(0));
  test.pass(milliseconds(100));  // the record is due
  CHECK(test.lane->tick(test.now) - test.now >= milliseconds(40));
  CHECK(failing.count() == 1);
}

TEST_CASE("an operator skips a record that waits before a pool whose downstream is out") {
  ScriptedHandler letters;
  KeyedLimits all("send", shipped, Fan::each());
  Fan test(all, letters);
  test.partition.add_run(0, 300);
  test.begin();
  REQUIRE(test.until([&] {
    test.pass(seconds(1));
    return test.sent("alive") == 300;
  }));
  CHECK(test.lane->skip(299, "no use", test.now) == Skip::on_its_way);
  REQUIRE(test.until([&] { return letters.count() == 1; }));
  CHECK(letters.offsets() == Offsets{299});
  CHECK(test.lane->skip(299, "no use", test.now) != Skip::on_its_way);
}

TEST_CASE("a record of a retry topic waits no longer for its subscriber than a record of the topic") {
  delivery::RetrySteps steps;
  steps.add("first", {{"orders", seconds(5)}});
  ScriptedHandler dead([](const auto&) { return Outcome::unavailable("refused"); });
  auto each = Fan::each();
  each.by = {config::Selector::Kind::key, ""};
  KeyedLimits all("send", shipped, each);
  LettersLane test;
  test.context.retry_steps = &steps;
  auto& pool = test.add_pool("send", dead, 8, 64);
  pool.settings.each = each;
  pool.each = &all;
  for (const auto offset : offsets(0, 10)) {
    test.partition.add(offset, "dead");
    test.partition.log.back().timestamp = wall_clock_ms();
  }
  test.begin();
  REQUIRE(test.until([&] {
    test.pass(seconds(10));
    return !all.find("dead")->downstream.closed();
  }));
  test.pass(std::chrono::minutes(50));
  CHECK(test.letters.count() == 0);
  CHECK(test.until([&] {
    test.pass(seconds(30));
    return test.commit() == 10;
  }));
  CHECK(test.letters.count() == 10);
}
