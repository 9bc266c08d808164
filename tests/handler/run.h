// Runs a handler on records without a pool or a broker: what the lane would be told is returned.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "config/pools/pool_scope.h"
#include "eventually.h"
#include "handler/registry.h"

namespace laneway::handler {

inline kafka::RecordData record_data(std::int64_t offset, std::optional<std::string> value,
                                     std::optional<std::string> key = {}) {
  kafka::RecordData data;
  data.topic = "orders";
  data.partition = 3;
  data.offset = offset;
  data.timestamp = 1767323045678;  // 2026-01-02T03:04:05.678Z
  data.timestamp_type = kafka::TimestampType::create_time;
  data.key = std::move(key);
  data.value = std::move(value);
  return data;
}

/// A claim over records, and what became of it. The handler may answer on another thread: result() waits.
class Run final : public TaskSink {
 public:
  explicit Run(std::vector<kafka::RecordData> records, bool sequential = false, std::uint32_t attempt = 1) {
    for (auto& data : records) {
      Item item;
      item.record = kafka::Record(data);
      item.attempt = attempt;
      batch_.items.push_back(std::move(item));
    }
    batch_.size = static_cast<std::uint32_t>(batch_.items.size());
    batch_.sequential = sequential;
  }

  /// At an attempt that did not count.
  void failed_before(bool unavailable) {
    for (Item& item : batch_.items) {
      item.failures = std::make_unique<FailureHistory>();
      item.failures->last_ms = 1;
      item.failures->unavailable = unavailable;
    }
  }
  /// Another pool is next: the results are kept.
  void pass_on() { batch_.passes_on = true; }
  /// The records are sub-jobs with this id.
  void is_part(const std::string& id) {
    for (Item& item : batch_.items) {
      item.progress = std::make_unique<Progress>();
      item.progress->part = id;
    }
  }
  /// The results of a record that is done; null if the record itself goes on.
  const Parts* results(std::uint32_t index) const {
    const auto& progress = batch_.items[index].progress;
    return progress ? progress->results.get() : nullptr;
  }
  Task task() { return Task({{&batch_, 0, batch_.size}, &slot_, 1}, *this); }
  void stop() { slot_.stop.stop_up_to(StopState::all); }
  void want_back() { slot_.want_back(1); }
  /// Before the task is handed over: called on the thread that answers.
  void when_finished(std::function<void()> hook) { when_finished_ = std::move(hook); }

  void finished(Finished finished) noexcept override {
    if (when_finished_) when_finished_();
    MutexLock lock(mutex_);
    finished_ = std::move(finished);
    ended_.notify_all();  // under the lock: who waits may destroy this
  }

  bool wants_attempts() const noexcept override { return true; }
  std::string_view cluster() const noexcept override { return "c-1"; }
  std::unique_ptr<tracing::AttemptTrace> begun(const Item&) noexcept override {
    ++times_begun_;
    return nullptr;
  }
  void attempted(const Item&, const BegunAttempt&, TimePoint, const Outcome& outcome) noexcept override {
    outcomes_.push_back(outcome);
  }

  /// Attempts, also those that had to be put off.
  int times_begun() const { return times_begun_; }
  /// As they were answered, done ones too.
  const std::vector<Outcome>& outcomes() const { return outcomes_; }
  const Finished& result() const {
    MutexLock lock(mutex_);
    const auto deadline = SteadyClock::now() + patience;
    while (!finished_ && ended_.wait_until(mutex_, deadline)) {
    }
    if (!finished_) throw std::runtime_error("the task has not ended");
    return *finished_;
  }
  bool ended() const {
    MutexLock lock(mutex_);
    return finished_.has_value();
  }
  ItemState state(std::uint32_t index) const { return batch_.items[index].state; }

 private:
  pool::Slot slot_;
  RecordBatch batch_;
  std::function<void()> when_finished_;
  std::vector<Outcome> outcomes_;
  std::atomic<int> times_begun_{0};
  mutable Mutex mutex_;
  mutable Condition ended_;
  std::optional<Finished> finished_ GUARDED_BY(mutex_);
};

inline config::Config config_with(config::HandlerSettings settings) {
  config::Config config;
  config.handler = std::move(settings);
  return config;
}

/// The handler of the first stage.
inline Result<std::unique_ptr<Handler>> make_handler(const config::Config& config) {
  return make_handler(config, config::stages_of(config).front());
}

/// The outcome of one record.
inline Outcome outcome_of(Handler& handler, Run& run) {
  handler.handle(run.task());
  const auto& failures = run.result().failures;
  return failures.empty() ? Outcome::done() : failures.front().outcome;
}

inline Outcome outcome_of(Handler& handler, kafka::RecordData data, std::uint32_t attempt = 1) {
  std::vector<kafka::RecordData> one;
  one.push_back(std::move(data));
  Run run(std::move(one), false, attempt);
  return outcome_of(handler, run);
}

}  // namespace laneway::handler
