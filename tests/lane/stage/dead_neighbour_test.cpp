// One downstream of several is out for long: what its lane, its neighbours and the readers of the status see.
#include <map>

#include "captured_log.h"
#include "lane/stage/pooled_lane.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

namespace {

constexpr DownstreamRules shipped{.breaker = {.failures = 5, .window = seconds(30), .probe = seconds(5)}};
/// As shipped, but for the time before a probe: workers begin probes by the real time, which hardly passes.
constexpr DownstreamRules probing{.breaker = {.failures = 5, .window = seconds(30), .probe = Duration(1)}};

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
  std::size_t sent(const std::string& subscriber) const { return subscriber == "dead" ? to_dead : to_alive; }
  /// How often each event came to the subscriber that works.
  std::map<std::int64_t, int> sent_to_alive() const {
    std::map<std::int64_t, int> times;
    for (const auto& seen : send.seen())
      if (seen.part == "alive") ++times[seen.offset];
    return times;
  }
  /// The offset and metadata of the last commit.
  const kafka::CommittedOffset& commit_all() {
    if (auto candidate = lane->commit_candidate()) {
      lane->committed(*candidate);
      last_commit = std::move(*candidate);
    }
    return last_commit;
  }
  /// The next event comes, and then the time stands still: at once it reaches the subscriber that works,
  /// probes fail at the other one, and what that one has not taken for an hour becomes dead letters and is
  /// committed.
  void next_event(const ScriptedHandler& letters) {
    const auto sent_before = sent("alive");
    partition.add(static_cast<std::int64_t>(partition.log.size()));
    pass(between);
    REQUIRE(until([&] { return sent("alive") > sent_before; }));
    const auto events = partition.log.size();
    const auto old = ++steps <= in_an_hour + late ? 0 : events - in_an_hour - late;
    REQUIRE(until([&] {
      lane->tick(now);
      return letters.count() >= old && commit_all().offset >= static_cast<std::int64_t>(old);
    }));
    CHECK(sent("alive") == sent_before + 1);
  }
  /// Of the events of an hour, and of what is late, at most.
  void check_bounds() const {
    const auto& stats = lane->stats();
    CHECK(lane->pool_views()[1].waiting + stats.waiting_retries.get() <= in_an_hour + late);
    CHECK(stats.finished_beyond.get() <= late);
    CHECK(stats.record_bytes.get() <= context.memory.lane_bytes / 4);
    CHECK(last_commit.metadata.size() <= 200);
    CHECK(stats.holds.get() == 0);
  }

  std::size_t steps = 0;
  static constexpr Duration between = seconds(30);
  static constexpr std::size_t in_an_hour = std::chrono::hours(1) / between;  // events
  /// Events that are given up later, because they were probes when their hour was over.
  static constexpr std::size_t late = 10;
  kafka::CommittedOffset last_commit{{"orders", 3}, 0, {}};
  std::atomic<bool> all_work{false};
  std::atomic<std::size_t> to_alive{0};
  std::atomic<std::size_t> to_dead{0};

  ScriptedHandler fan{[](const auto&) { return results({"alive", "dead"}); }};
  ScriptedHandler send{[this](const handler::Attempt& attempt) {
    ++(attempt.part == "dead" ? to_dead : to_alive);
    return attempt.part == "dead" && !all_work ? Outcome::unavailable("refused") : Outcome::done();
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
    all.note_worked(test.now);  // another subscriber
    test.pass(seconds(30));
    return test.commit() == 10;
  }));
  CHECK(test.letters.count() == 10);
}

TEST_CASE("a subscriber that is out for a day does not slow the others") {
  constexpr std::size_t day = 24 * Fan::in_an_hour;
  const CapturedLog log;
  ScriptedHandler letters;
  KeyedLimits all("send", probing, Fan::each());
  Fan test(all, letters);
  test.context.memory.lane_bytes = 1 << 20;
  test.begin();
  for (std::size_t events = 1; events <= day; ++events) {
    test.next_event(letters);
    CHECK(letters.count() <= events - std::min(events, Fan::in_an_hour));
    test.check_bounds();
  }
  const auto sent = test.sent_to_alive();
  CHECK(sent.size() == day);
  CHECK(std::all_of(sent.begin(), sent.end(), [](const auto& event) { return event.second == 1; }));
  CHECK(all.all().size() == 2);
  CHECK(test.sent("dead") >= day);  // probes
}

TEST_CASE("a restart while a subscriber is out loses nothing, and sends the others what is not committed") {
  constexpr std::size_t events = 2 * Fan::in_an_hour;
  ScriptedHandler letters;
  kafka::CommittedOffset committed;
  std::map<std::int64_t, int> sent;
  {
    KeyedLimits all("send", probing, Fan::each());
    Fan killed(all, letters);
    killed.begin();
    for (std::size_t i = 0; i < events; ++i) killed.next_event(letters);
    committed = killed.last_commit;
    sent = killed.sent_to_alive();
  }
  const auto given_up = letters.count();
  CHECK(given_up >= events - Fan::in_an_hour - Fan::late);

  KeyedLimits all("send", probing, Fan::each());
  Fan restarted(all, letters);
  restarted.partition.add_run(0, events);
  restarted.partition.go_to(committed.offset);
  restarted.begin(committed.offset, committed.metadata);
  REQUIRE(restarted.until([&] {
    restarted.pass(seconds(1));
    return restarted.sent("alive") >= events - given_up;
  }));
  for (std::size_t i = 0; i < 10; ++i) restarted.next_event(letters);
  restarted.all_work = true;
  REQUIRE(restarted.until([&] {
    restarted.pass(seconds(1));
    return restarted.commit_all().offset == events + 10;
  }));
  CHECK(letters.count() == given_up);
  for (const auto& [offset, times] : restarted.sent_to_alive()) {
    CHECK(times == 1);
    CHECK(offset >= committed.offset);
    sent[offset] += times;
  }
  CHECK(sent.size() == events + 10);
}
