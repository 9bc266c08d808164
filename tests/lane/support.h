// Shared by the lane's tests: a lane on a simulated partition, a handler whose answers the test gives, and a
// clock that the test moves. Only threads are waited for, and waiting ends long after a loaded machine would
// be done.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "captured_log.h"
#include "catch.h"
#include "eventually.h"
#include "lane/answers.h"
#include "lane/lane.h"
#include "lane/simulated_partition.h"
#include "pool/pool.h"

namespace laneway::lane {

using Offsets = std::vector<std::int64_t>;

inline Offsets offsets(std::int64_t begin, std::int64_t end) {
  Offsets result;
  for (auto i = begin; i < end; ++i) result.push_back(i);
  return result;
}

/// Every record stays running until the test answers it, or its stop is requested.
class HeldHandler final : public handler::RecordHandler {
 public:
  std::string name() const override { return "held"; }
  Duration timeout() const override { return job_timeout; }

  /// Answers the next (or current) attempt at the record.
  void answer(std::int64_t offset, handler::Outcome outcome = {}) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    answers_[offset].push_back(std::move(outcome));
    changed_.notify_all();
  }
  void answer_done(const Offsets& offsets) {
    for (const auto offset : offsets) answer(offset);
  }
  /// From this call on, every record is done at once.
  void open() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  /// Attempts go on although their stop is requested.
  void ignore_stops() { ignores_stops_ = true; }

  /// The offsets of the attempts, in the order in which they began.
  Offsets started() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return started_;
  }
  std::vector<std::uint32_t> attempts(std::int64_t offset) const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const auto found = attempts_.find(offset);
    return found == attempts_.end() ? std::vector<std::uint32_t>{} : found->second;
  }

  Duration job_timeout = std::chrono::hours(1);

 private:
  // Longer than the pool's claim_time, so that each record is a claim of its own.
  static constexpr Duration shortest = 2 * pool::claim_time;

  handler::Outcome handle_record(const handler::Attempt& attempt) override EXCLUDES(mutex_) {
    const auto offset = attempt.record.offset();
    const auto given_up = Deadline::in(2 * patience);
    std::this_thread::sleep_for(shortest);
    MutexLock lock(mutex_);
    started_.push_back(offset);
    attempts_[offset].push_back(attempt.number);
    while (!given_up.passed()) {
      auto& answers = answers_[offset];
      if (!answers.empty()) {
        auto outcome = std::move(answers.front());
        answers.erase(answers.begin());
        return outcome;
      }
      if (open_) return {};
      if (!ignores_stops_ && attempt.stop.stop_requested()) return handler::Outcome::retry("stopped");
      changed_.wait_until(mutex_, SteadyClock::now() + milliseconds(2));  // a stop does not notify
    }
    return handler::Outcome::retry("the test has failed");
  }

  mutable Mutex mutex_;
  Condition changed_;
  std::map<std::int64_t, std::vector<handler::Outcome>> answers_ GUARDED_BY(mutex_);
  Offsets started_ GUARDED_BY(mutex_);
  std::map<std::int64_t, std::vector<std::uint32_t>> attempts_ GUARDED_BY(mutex_);
  bool open_ GUARDED_BY(mutex_) = false;
  std::atomic<bool> ignores_stops_{false};
};

/// A lane on a simulated partition. Set the context and the partition, then begin().
class TestLane {
 public:
  TestLane() {
    context.stages.resize(1);
    stage().settings.workers = 4;
    stage().settings.queue = 16;
    context.memory.lane_bytes = 1 << 20;
    context.memory.fetch.queued_min_messages = 1000;
    context.retry.backoff = milliseconds(100);
    context.retry.max_crashes = 0;
    context.retry.attempts = 5;
    stage().downstream = &no_breaker;
    stage().handler = &handler;
  }
  ~TestLane() {
    handler.open();
    const bool takes = lane && (lane->state() == State::running || lane->state() == State::held);
    CHECK_FALSE((takes && partition.paused));  // nothing would resume the client
    lane.reset();
    CHECK(no_breaker.running() == 0);
    if (!stage().settings.named()) CHECK(stage().downstream->running() == 0);
  }
  TestLane(const TestLane&) = delete;

  /// The first stage of the lane.
  StageContext& stage() { return context.stages.front(); }

  void begin(std::int64_t offset = 0, std::string metadata = {}) {
    lane = std::make_unique<Lane>(context, StoredCommit::read({{"orders", 3}, offset, std::move(metadata)}),
                                  7, [this] { ++signals; });
    lane->start(std::make_unique<SimulatedSource>(partition), now);
  }
  /// Works as the loop does: as long as there is more to do at once.
  void work() {
    while (lane->work(now)) {
    }
  }
  void pass(Duration time) {
    now += time;
    lane->tick(now);
    work();
  }
  /// The clock's part of a turn, at the real time.
  void tick_now() {
    now = std::max(now, SteadyClock::now());
    lane->tick(now);
  }
  /// The same as pass(), after the time that has really passed, which decides when the pool's claims begin.
  void pass_since_now(Duration time) {
    now = std::max(now, SteadyClock::now());
    pass(time);
  }
  /// Works until the condition is true; returns false if it does not become true within the patience.
  template <class Condition>
  bool until(Condition&& condition) {
    const auto deadline = Deadline::in(patience);
    for (work(); !condition(); work()) {
      if (deadline.passed()) return false;
      std::this_thread::sleep_for(microseconds(200));
    }
    return true;
  }
  bool until_started(const Offsets& expected) {
    return until([&] { return sorted(handler.started()) == sorted(expected); });
  }
  /// Records that are not answered stay running or queued.
  bool until_outstanding(std::uint32_t count) {
    const bool so = until([&] {
      const auto pool = lane->pool().snapshot();
      return pool.queued + pool.in_flight == count;
    });
    work();  // collects what finished since
    return so;
  }
  /// Lets time pass until the condition is true. Every running record must have its answer by then.
  template <class Condition>
  bool in_time(Condition&& condition) {
    for (int i = 0; i < 200; ++i) {
      if (condition()) return true;  // checked only once, because the check may have side effects
      if (!until_outstanding(0)) return false;
      pass(seconds(1));
    }
    return condition();
  }
  /// Answers as long and as often as the lane needs before it believes in another log.
  void hear_of_another_log(std::int64_t start, std::int64_t end) {
    for (std::uint32_t i = 0; i < PositionJudge::least_answers; ++i) {
      partition.answers(start, end);
      pass(PositionJudge::least_time / (PositionJudge::least_answers - 1) + milliseconds(1));
    }
  }
  bool until_drained() {
    return until([&] { return lane->drained(); });
  }
  /// The offset that would be committed; -1 if none.
  std::int64_t commit_offset() {
    const auto candidate = lane->commit_candidate();
    return candidate ? candidate->offset : -1;
  }
  /// Commits as the loop does, and returns the offset.
  std::int64_t commit() {
    const auto candidate = lane->commit_candidate();
    if (!candidate) return -1;
    lane->committed(*candidate);
    return candidate->offset;
  }
  static Offsets sorted(Offsets offsets) {
    std::sort(offsets.begin(), offsets.end());
    return offsets;
  }

  Downstream no_breaker{"none", {.breaker = {.failures = 0}}};
  LaneContext context;
  Partition partition;
  HeldHandler handler;
  TimePoint now = SteadyClock::now();
  std::atomic<int> signals{0};
  std::unique_ptr<Lane> lane;
};

}  // namespace laneway::lane
