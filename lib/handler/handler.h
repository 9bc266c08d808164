// The work that a user brings: one interface for blocking and asynchronous handlers, single records and
// batches.
//
// A Task is a claim of the pool: records of one lane in offset order. Blocking handlers derive from
// RecordHandler and see one record at a time. Others override Handler::handle: they may keep the Task (it
// moves), return, and answer later. When the Task is destroyed, the lane learns what was answered; an
// unanswered record counts as not started and runs again. In a sequential task the records are of one key:
// after one that is not done, the rest must not be run. A handler that works on the records of a task one
// after the other asks wanted_back() before the next one: work that turns out to be slow, or a lane that is
// given away, ends the task after the record that is at work.
//
// Threads: handle() is called on several pool threads at once; a handler guards what it shares. A Task is
// used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/stop_token.h"
#include "base/time.h"
#include "handler/outcome.h"
#include "handler/record_batch.h"
#include "kafka/produce/renewals.h"
#include "kafka/produce/transaction.h"
#include "kafka/record.h"
#include "pool/batch.h"
#include "tracing/attempt_trace.h"

namespace laneway::handler {

/// A record with what the handler may want to know beside it. Valid until it is answered.
struct Attempt {
  const kafka::Record& record;
  std::uint32_t number;                      ///< from 1
  StopToken stop;                            ///< the attempt's deadline passed, or the drain was cut short
  const FailureHistory* failures = nullptr;  ///< of the attempts before; null: none failed
  const tracing::AttemptTrace* trace = nullptr;  ///< its span, to be passed on; null: not sampled
  /// The id of the record's cluster, for its delivery id (handler/format/delivery_id.h); empty where it tells
  /// none.
  std::string_view cluster{};

  /// The topic of the service that the record belongs to: its own, except where a stranger wrote it to a
  /// retry topic.
  std::string source_topic() const {
    return failures != nullptr && failures->stage != nullptr ? failures->stage->source
                                                             : std::string(record.topic());
  }
};

struct Failure {
  std::uint32_t index;  ///< into the batch's items
  Outcome outcome;
};

/// What became of a claim.
struct Finished {
  pool::Claim claim;
  std::uint32_t done = 0;         ///< items answered done
  std::uint32_t same_call = 0;    ///< of those, the ones that do not count as a call (Outcome::same_call)
  std::vector<Failure> failures;  ///< items answered otherwise, in order
  Duration busy{};                ///< from the first attempt to the last answer
};

/// Of an attempt, until it is answered.
struct BegunAttempt {
  TimePoint start;
  std::unique_ptr<tracing::AttemptTrace> trace;
};

/// Who is told: the lane. Called on the thread that answers.
class TaskSink {
 public:
  virtual ~TaskSink() = default;
  virtual void finished(Finished finished) noexcept = 0;
  /// Whether begun() and attempted() want to be called for every record (there is a journal, or spans);
  /// constant.
  virtual bool wants_attempts() const noexcept { return false; }
  /// See Attempt; constant, and outlives its tasks.
  virtual std::string_view cluster() const noexcept { return {}; }
  /// The attempt's span; null: none.
  virtual std::unique_ptr<tracing::AttemptTrace> begun(const Item& /*item*/) noexcept { return nullptr; }
  virtual void attempted(const Item& /*item*/, const BegunAttempt& /*begun*/, TimePoint /*end*/,
                         const Outcome& /*outcome*/) noexcept {}
};

class Task {
 public:
  Task(const pool::Claim& claim, TaskSink& sink)
      : finished_{claim, 0, 0, {}, {}},
        batch_(static_cast<RecordBatch*>(claim.range.batch)),
        sink_(&sink),
        cluster_(sink.cluster()) {
    if (!sink.wants_attempts()) return;
    begun_.resize(size());
    for (auto& begun : begun_) begun.start = SteadyClock::now();
  }
  Task(Task&& other) noexcept
      : finished_(std::move(other.finished_)),
        batch_(other.batch_),
        sink_(std::exchange(other.sink_, nullptr)),
        cluster_(other.cluster_),
        started_(other.started_),
        begun_(std::move(other.begun_)) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (sink_ == nullptr) return;
    if (started_) finished_.busy = SteadyClock::now() - *started_;
    sink_->finished(std::move(finished_));
  }

  std::uint32_t size() const { return finished_.claim.range.count(); }
  bool sequential() const { return batch_->sequential; }
  Route route() const { return batch_->route; }

  /// Begins the attempt of record `index` in [0, size()).
  Attempt attempt(std::uint32_t index) {
    const auto job = finished_.claim.range.begin + index;
    finished_.claim.slot->progress(finished_.claim.first_ticket + index);
    const Item& item = batch_->items[job];
    if (!started_) started_ = SteadyClock::now();
    const tracing::AttemptTrace* trace = nullptr;
    if (!begun_.empty()) {
      begun_[index] = {SteadyClock::now(), sink_->begun(item)};
      trace = begun_[index].trace.get();
    }
    return {item.record, item.attempt, finished_.claim.stop_token(job), item.failures.get(), trace, cluster_};
  }

  /// The downstream is asked only now: what has passed since the attempt began is not its time.
  void asked() { started_ = SteadyClock::now(); }

  /// No more of its records are to be begun; the task ends with what is answered. Costs next to nothing.
  bool wanted_back() const { return finished_.claim.wanted_back(); }

  /// Answers record `index`, once. A record whose work is done is released here.
  void answer(std::uint32_t index, Outcome outcome) {
    const auto job = finished_.claim.range.begin + index;
    Item& item = batch_->items[job];
    if (!begun_.empty()) sink_->attempted(item, begun_[index], SteadyClock::now(), outcome);
    if (outcome.verdict == Verdict::done) {
      if (item.route() == Route::work) item.record.reset();
      item.state = ItemState::done;
      ++finished_.done;
      finished_.same_call += outcome.same_call ? 1 : 0;
    } else {
      item.state = ItemState::failed;
      finished_.failures.push_back({job, std::move(outcome)});
    }
  }

 private:
  Finished finished_;
  RecordBatch* batch_;
  TaskSink* sink_;
  std::string_view cluster_;
  std::optional<TimePoint> started_;  // with the first attempt
  std::vector<BegunAttempt> begun_;   // only when the sink wants attempts
};

class Handler {
 public:
  virtual ~Handler() = default;
  /// See the top of this file. Throws nothing.
  virtual void handle(Task task) noexcept = 0;
  /// After this long an attempt's stop is requested.
  virtual Duration timeout() const { return seconds(30); }
  /// Records of one task, at most, unless it is sequential. A handler that keeps its tasks says 1, or what it
  /// sends together: `lanes.workers` bounds the tasks.
  virtual std::uint32_t most_per_task() const { return 256; }
  /// Whether handle() never blocks: then it is called on the lanes' own thread and on those that answer, and
  /// the lanes have no worker threads.
  virtual bool asynchronous() const { return false; }
  /// Whether a task holds as many records as wait, up to most_per_task(): for a handler that works on all of
  /// a task at once, so that the task is one call of the downstream. Else a task is as many as take a moment.
  virtual bool fills_tasks() const { return false; }
  /// What the handler writes belongs to this transaction: the offsets of what it was made of must be
  /// committed in it. Lives as long as the handler. Null: offsets are committed by themselves.
  virtual kafka::Transaction* transaction() { return nullptr; }
  /// Why the handler cannot go on, ever: the service then stops, to be started anew. From any thread.
  virtual std::optional<Error> fatal() const { return std::nullopt; }
  /// Of the clients that it writes to Kafka with; null: it has none.
  virtual const kafka::Renewals* renewals() const { return nullptr; }
  /// For logs: "http", "log", …
  virtual std::string name() const = 0;
  /// What it talks to, as the breaker's log calls it.
  virtual std::string downstream() const { return name(); }
};

/// Answers record `index` of `task`. What is not done after its stop was requested has cause timeout, unless
/// the handler knows better. False: the task ends here, because its next record must not run.
bool answer_attempt(Task& task, std::uint32_t index, StopToken stop, Outcome outcome);

/// For what was thrown instead of an outcome: a retry with cause panic. Inside a catch block only.
Outcome outcome_of_exception();

/// A handler that blocks and sees one record at a time. Whatever it throws becomes a retry with cause panic.
class RecordHandler : public Handler {
 public:
  void handle(Task task) noexcept final;

 protected:
  virtual Outcome handle_record(const Attempt& attempt) = 0;
};

}  // namespace laneway::handler
