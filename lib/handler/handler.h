// The interface of the user's work: blocking and asynchronous handlers, single records and batches.
//
// A Task is a claim of the pool: records of one lane in offset order. Blocking handlers derive from
// RecordHandler and see one record at a time. Other handlers override Handler::handle: they may keep the Task
// (it can be moved), return, and answer later. When the Task is destroyed, the lane receives the answers; an
// unanswered record counts as not started and runs again. In a sequential task all records have the same
// ordering key: after a record that is not done, the remaining records must not run. A handler that processes
// the records of a task one after the other gets each by next(): if the work turns out to be slow, or the
// lane is given away, the task ends with the running record, and the others go on without waiting for it.
//
// Threads: several pool threads call handle() at once; a handler protects its shared data. One thread at a
// time uses a Task.
#pragma once

#include <algorithm>
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
#include "handler/content.h"
#include "handler/outcome.h"
#include "handler/record_batch.h"
#include "kafka/produce/renewals.h"
#include "kafka/produce/transaction.h"
#include "kafka/record.h"
#include "pool/batch.h"
#include "tracing/attempt_trace.h"

namespace laneway::handler {

/// A record with further data for the handler. Valid until the record is answered.
struct Attempt {
  Content record;
  std::uint32_t number;  ///< from 1
  StopToken stop;        ///< requested when the attempt's deadline has passed, or the drain was cut short
  const FailureHistory* failures = nullptr;      ///< of the earlier attempts; null if none failed
  const tracing::AttemptTrace* trace = nullptr;  ///< the attempt's span, to be passed on; null if not sampled
  /// The id of the record's cluster, for the delivery id (handler/format/delivery_id.h); empty if the cluster
  /// has no id.
  std::string_view cluster{};
  /// The id of the sub-job (Part::id); empty if the record is whole.
  std::string_view part{};

  /// The topic of the service that the record belongs to: the record's own topic, except for a record that
  /// another program wrote to a retry topic.
  std::string source_topic() const {
    return failures != nullptr && failures->retry_step != nullptr ? failures->retry_step->source
                                                                  : std::string(record.topic());
  }
};

struct Failure {
  std::uint32_t index;  ///< into the batch's items
  Outcome outcome;
};

/// The result of a claim.
struct Finished {
  pool::Claim claim;
  std::uint32_t done = 0;         ///< items answered done
  std::uint32_t same_call = 0;    ///< items of `done` that do not count as a call (Outcome::same_call)
  std::vector<Failure> failures;  ///< items with another answer, in the order of the items
  Duration busy{};                ///< from the first attempt to the last answer
  TimePoint ended{};              ///< when the last answer came, if an attempt began
};

/// An attempt that is not answered yet.
struct BegunAttempt {
  TimePoint start;
  std::unique_ptr<tracing::AttemptTrace> trace;
};

/// Receives the results: implemented by the lane. Called on the thread that answers.
class TaskSink {
 public:
  virtual ~TaskSink() = default;
  virtual void finished(Finished finished) noexcept = 0;
  /// Whether begun() and attempted() must be called for every record (because there is a journal, or spans).
  /// Constant.
  virtual bool wants_attempts() const noexcept { return false; }
  /// See Attempt. Constant; outlives the tasks of this sink.
  virtual std::string_view cluster() const noexcept { return {}; }
  /// The attempt's span; null if there is no span.
  virtual std::unique_ptr<tracing::AttemptTrace> begun(const Item& /*item*/) noexcept { return nullptr; }
  virtual void attempted(const Item& /*item*/, const BegunAttempt& /*begun*/, TimePoint /*end*/,
                         const Outcome& /*outcome*/) noexcept {}
};

class Task {
 public:
  Task(const pool::Claim& claim, TaskSink& sink)
      : finished_{claim, 0, 0, {}, {}, {}},
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
        next_(other.next_),
        begun_(std::move(other.begun_)) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (sink_ == nullptr) return;
    // A handler may answer in any order.
    auto& failures = finished_.failures;
    const auto by_index = [](const Failure& one, const Failure& other) { return one.index < other.index; };
    if (!std::is_sorted(failures.begin(), failures.end(), by_index))
      std::sort(failures.begin(), failures.end(), by_index);
    if (started_) {
      finished_.ended = SteadyClock::now();
      finished_.busy = finished_.ended - *started_;
    }
    sink_->finished(std::move(finished_));
  }

  std::uint32_t size() const { return finished_.claim.range.count(); }
  bool sequential() const { return batch_->sequential; }
  Route route() const { return batch_->route; }

  /// Begins the attempt of record `index` in [0, size()).
  Attempt attempt(std::uint32_t index) {
    finished_.claim.slot->progress(finished_.claim.first_ticket + index);
    return begin(index);
  }
  /// Begins the attempt of the next record, when all records before it are answered. nullopt if there is no
  /// further record, or no more records of the task should begin: the task ends here. The first one always
  /// begins.
  std::optional<Attempt> next() {
    const auto& [range, slot, first] = finished_.claim;
    if (range.begin + next_ == range.end) return {};
    if (!slot->begin(first + next_, first) && next_ > 0) return {};
    return begin(next_++);
  }

  /// The call of the downstream begins now: the time before, since the attempt began, is not the
  /// downstream's.
  void asked() { started_ = SteadyClock::now(); }

  /// No more records of the task should begin; the task ends with the records that are answered. Very cheap.
  bool wanted_back() const { return finished_.claim.wanted_back(); }

  /// Answers record `index`, once. A record that is done is released here.
  void answer(std::uint32_t index, Outcome&& outcome) {
    const auto job = finished_.claim.range.begin + index;
    Item& item = batch_->items[job];
    if (!begun_.empty()) sink_->attempted(item, begun_[index], SteadyClock::now(), outcome);
    if (outcome.verdict == Verdict::done) {
      if (batch_->passes_on)
        item.begin_progress().results = std::move(outcome.parts);
      else if (batch_->route == Route::work)
        item.record.reset();
      ++finished_.done;
      finished_.same_call += outcome.same_call ? 1 : 0;
      item.publish_state(ItemState::done);  // last: the loop may take the record now
    } else {
      finished_.failures.push_back({job, std::move(outcome)});
      item.publish_state(ItemState::failed);
    }
  }

 private:
  Attempt begin(std::uint32_t index) {
    const auto job = finished_.claim.range.begin + index;
    const Item& item = batch_->items[job];
    if (!started_) started_ = SteadyClock::now();
    const tracing::AttemptTrace* trace = nullptr;
    if (!begun_.empty()) {
      begun_[index] = {SteadyClock::now(), sink_->begun(item)};
      trace = begun_[index].trace.get();
    }
    const auto part = item.progress ? std::string_view(item.progress->part) : std::string_view();
    return {item.record, item.attempt, finished_.claim.stop_token(job), item.failures.get(), trace,
            cluster_,    part};
  }

  Finished finished_;
  RecordBatch* batch_;
  TaskSink* sink_;
  std::string_view cluster_;
  std::optional<TimePoint> started_;  // set by the first attempt
  std::uint32_t next_ = 0;            // of next()
  std::vector<BegunAttempt> begun_;   // filled only if the sink wants attempts
};

class Handler {
 public:
  virtual ~Handler() = default;
  /// See the top of this file. Never throws.
  virtual void handle(Task task) noexcept = 0;
  /// The time after which an attempt's stop is requested.
  virtual Duration timeout() const { return seconds(30); }
  /// The maximum number of records in one task, unless the task is sequential. A handler that keeps its tasks
  /// returns 1, or the number of records that it sends together: `lanes.workers` bounds the tasks.
  virtual std::uint32_t most_per_task() const { return 256; }
  /// Whether handle() never blocks. It is then called on the lanes' own thread and on the threads that
  /// answer, and the lanes have no worker threads.
  virtual bool asynchronous() const { return false; }
  /// Whether a task contains all waiting records, up to most_per_task(): for a handler that works on a whole
  /// task at once, so that the task is one call of the downstream. Otherwise a task contains as many records
  /// as take a moment.
  virtual bool fills_tasks() const { return false; }
  /// The transaction of the records that the handler writes: the offsets of the input records must be
  /// committed in it. Lives as long as the handler. Null if offsets are committed without a transaction.
  virtual kafka::Transaction* transaction() { return nullptr; }
  /// Why the handler has failed permanently: the service then stops and must be started again. Called from
  /// any thread.
  virtual std::optional<Error> fatal() const { return std::nullopt; }
  /// The renewals of the clients that the handler writes to Kafka with; null if the handler has no such
  /// client.
  virtual const kafka::Renewals* renewals() const { return nullptr; }
  /// The name in logs: "http", "log", …
  virtual std::string name() const = 0;
  /// The name of the downstream in the breaker's log.
  virtual std::string downstream() const { return name(); }
};

/// Answers record `index` of `task`. A record that is not done after its stop was requested gets cause
/// timeout, unless the handler knows the cause better. Returns false if the task ends here because its next
/// record must not run.
bool answer_attempt(Task& task, std::uint32_t index, const StopToken& stop, Outcome&& outcome);

/// The outcome for an exception: a retry with cause panic. Call only inside a catch block.
Outcome outcome_of_exception();

/// A handler that blocks and sees one record at a time. Every exception becomes a retry with cause panic.
class RecordHandler : public Handler {
 public:
  void handle(Task task) noexcept final;

 protected:
  virtual Outcome handle_record(const Attempt& attempt) = 0;

 private:
  Outcome outcome_of(const Attempt& attempt);
};

}  // namespace laneway::handler
