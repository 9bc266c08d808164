// Lanes that share a subscriber whose answers take time, in virtual time and without threads: the lanes'
// loops work when they are signalled, and tick when they asked for it.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lane/stage/pooled_lane.h"

namespace laneway::lane {

/// One attempt at a record.
struct TimedCall {
  std::int64_t offset;
  std::uint32_t attempt;
  TimePoint begun;
  TimePoint ended = TimePoint::max();
  bool failed = false;
};

/// Each call takes the same time, of the test's clock.
class TimedHandler final : public handler::Handler {
 public:
  using Fails = std::function<bool(const TimedCall&)>;
  TimedHandler(const TimePoint& now, Duration takes, const Fails& fails)
      : now_(now), takes_(takes), fails_(fails) {}
  std::string name() const override { return "timed"; }
  Duration timeout() const override { return std::chrono::hours(24); }
  bool asynchronous() const override { return true; }
  std::uint32_t most_per_task() const override { return 1; }
  void handle(handler::Task task) noexcept override {
    const auto attempt = task.attempt(0);
    calls.push_back({attempt.record.offset(), attempt.number, now_});
    running_.push_back({std::move(task), calls.size() - 1});
  }
  void answer() {
    while (!running_.empty() && calls[running_.front().call].begun + takes_ <= now_) {
      auto [task, place] = std::move(running_.front());
      running_.pop_front();
      auto& call = calls[place];
      call.ended = now_;
      call.failed = fails_(call);
      task.answer(0, call.failed ? handler::Outcome::retry("HTTP 500") : handler::Outcome::done());
    }
  }
  std::size_t running() const { return running_.size(); }

  std::vector<TimedCall> calls;

 private:
  struct Running {
    handler::Task task;
    std::size_t call;
  };
  const TimePoint& now_;
  const Duration takes_;
  const Fails& fails_;
  std::deque<Running> running_;
};

/// Set the limits, then begin().
struct SlowSubscriber {
  struct LoopOfLane {
    explicit LoopOfLane(const SlowSubscriber& of) : work(of.now, of.takes, of.fails) {}
    TimedHandler work;
    PooledLane test;
    int signals = 0;
    TimePoint next_tick{};
  };

  explicit SlowSubscriber(std::size_t lanes, Duration a_call = milliseconds(100)) : takes(a_call) {
    each.by = {config::Selector::Kind::key, ""};
    for (std::size_t i = 0; i < lanes; ++i) all.push_back(std::make_unique<LoopOfLane>(*this));
  }
  ~SlowSubscriber() {
    fails = [](const auto&) { return false; };
    for (const auto& lane : all)
      if (lane->test.lane) lane->test.lane->cancel();
    pass(2 * takes);
    for (const auto& lane : all) lane->test.lane.reset();
  }
  SlowSubscriber(const SlowSubscriber&) = delete;

  /// `records`: of each lane.
  void begin(std::int64_t records, std::uint32_t retry_workers = 0) {
    subscribers = std::make_unique<KeyedLimits>("deliver", DownstreamRules{.breaker = {.failures = 0}}, each);
    for (const auto& lane : all) {
      auto& test = lane->test;
      test.now = now;
      test.context.retry.backoff = milliseconds(50);
      test.context.retry.max_backoff = milliseconds(200);
      test.context.retry.attempts = 1000;
      auto& pool = test.add_pool("deliver", lane->work, 64, 256);
      pool.settings.retry_workers = retry_workers;
      pool.settings.each = each;
      pool.each = subscribers.get();
      test.route_by_key();
      for (std::int64_t offset = 0; offset < records; ++offset) test.partition.add(offset, "acme");
      test.begin();
    }
  }
  void pass(Duration time) {
    for (const auto end = now + time; now < end; now += milliseconds(1)) {
      for (const auto& lane : all) lane->work.answer();
      for (const auto& lane : all) turn(*lane);
    }
  }
  /// The first lane always comes first.
  void turn(LoopOfLane& loop) const {
    auto& test = loop.test;
    test.now = now;
    if (now >= loop.next_tick) loop.next_tick = test.lane->tick(now);
    for (int i = 0; i < 100 && std::exchange(loop.signals, test.signals.load()) != test.signals.load(); ++i)
      test.work();
  }
  /// All calls that began since this time. `failed`: records that had failed before, or only new ones.
  std::size_t begun(bool failed, TimePoint since) const {
    std::size_t count = 0;
    for (const auto& lane : all)
      for (const auto& call : lane->work.calls) count += call.begun >= since && (call.attempt > 1) == failed;
    return count;
  }
  /// The longest time from the end of a failed attempt to the next one.
  static Duration longest_wait_of_failed(const LoopOfLane& lane, TimePoint now) {
    Duration longest{};
    for (const auto& call : lane.work.calls) {
      if (!call.failed) continue;
      const auto again = std::find_if(lane.work.calls.begin(), lane.work.calls.end(), [&](const auto& other) {
        return other.offset == call.offset && other.attempt == call.attempt + 1;
      });
      longest = std::max(longest, (again == lane.work.calls.end() ? now : again->begun) - call.ended);
    }
    return longest;
  }
  /// The longest time without a new record beginning.
  static Duration longest_wait_of_new(const LoopOfLane& lane, TimePoint since, TimePoint now) {
    Duration longest{};
    for (const auto& call : lane.work.calls)
      if (call.attempt == 1 && call.begun >= since) {
        longest = std::max(longest, call.begun - since);
        since = call.begun;
      }
    return std::max(longest, now - since);
  }

  const Duration takes;
  TimePoint now = SteadyClock::now();
  TimedHandler::Fails fails = [](const auto&) { return false; };
  config::Each each;
  std::unique_ptr<KeyedLimits> subscribers;
  std::vector<std::unique_ptr<LoopOfLane>> all;
};

}  // namespace laneway::lane
