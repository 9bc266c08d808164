#include "lane/stage/execution.h"

#include <algorithm>

#include "lane/batch/work_batch.h"
#include "lane/stage/line.h"
#include "lane/state/record_life.h"

namespace laneway::lane {

namespace {

/// A withheld record had no attempt; an attempt that finds the downstream out ends before its work.
pool::Ran ran_of(const handler::Finished& finished) {
  pool::Ran ran{finished.done, finished.done};
  for (const auto& [index, outcome] : finished.failures) {
    if (outcome.cause == handler::Cause::withheld) continue;
    ++ran.attempts;
    if (outcome.verdict != handler::Verdict::unavailable) ++ran.typical;
  }
  return ran;
}

/// What a task's answers show about the downstream. A call with several records is one call.
struct Calls {
  struct Failed {
    const handler::Failure* failure;
    std::uint32_t worked_before;  // in the order of the records
  };
  std::uint32_t worked = 0;
  std::vector<Failed> failed{};
  std::uint32_t taken_part = 0;  // calls that had a record of the task
};

void add_failure(const handler::Failure& failure, Calls& calls) {
  const auto& outcome = failure.outcome;
  if (outcome.cause == handler::Cause::local) return;      // the downstream was not asked
  if (outcome.cause == handler::Cause::throttled) return;  // the downstream works, but is called too often
  ++calls.taken_part;
  if (outcome.same_call) return;
  if (outcome.verdict == handler::Verdict::reject)
    ++calls.worked;  // the downstream found the record wrong
  else
    calls.failed.push_back({&failure, calls.worked});
}

/// `one_call`: the handler sends a task in one call. A downstream that answers for one of the records works.
Calls calls_of(const handler::Finished& finished, const std::vector<handler::Item>& items, bool one_call) {
  Calls calls;
  calls.taken_part = finished.done;
  auto left = finished.done - finished.same_call;
  auto next = finished.claim.range.begin;
  for (const auto& failure : finished.failures) {
    for (; next < failure.index && left > 0; ++next) {
      const auto state = items[next].seen_state();
      if (state != handler::ItemState::done && state != handler::ItemState::collected) continue;
      ++calls.worked;
      --left;
    }
    add_failure(failure, calls);
  }
  calls.worked += left;
  if (!one_call) return calls;
  if (calls.worked > 0) return {.worked = 1, .taken_part = 1};
  if (!calls.failed.empty()) return {.failed = {calls.failed.front()}, .taken_part = 1};
  return calls;
}

/// Calls that failed in another way than by too many calls show nothing about the limit.
delivery::EndedCalls ended_calls(const handler::Finished& finished, bool one_call) {
  delivery::EndedCalls calls;
  calls.worked = finished.done > 0 ? (one_call ? 1 : finished.done) : 0;
  for (const auto& [index, outcome] : finished.failures) {
    using handler::Cause;
    if (outcome.same_call || outcome.cause == Cause::withheld || outcome.cause == Cause::local) continue;
    if (outcome.cause == Cause::throttled)
      ++calls.throttled;
    else if (outcome.cause == Cause::timeout)
      ++calls.timeouts;
    else if (outcome.verdict == handler::Verdict::unavailable)
      ++calls.unavailable;
    else if (outcome.verdict == handler::Verdict::reject)
      ++calls.worked;
  }
  const auto ended = calls.worked + calls.dropped();
  if (ended > 0) calls.latency = finished.busy / ended;
  return calls;
}

/// The kind of a failure that the handlers word differently; otherwise empty.
std::string_view kind_of(handler::Cause cause) {
  if (cause == handler::Cause::timeout) return delivery::timeout_kind;
  if (cause == handler::Cause::panic) return delivery::panic_kind;
  return {};
}

}  // namespace

void Execution::run(const pool::Claim& claim) noexcept {
  using handler::Task;
  const auto route = batch_of(claim.range).route;
  if (route != handler::Route::work)
    return (route == handler::Route::parked ? lane_.parking : lane_.forward)->handle(Task(claim, *this));
  auto& downstream = batch_of(claim.range).line->downstream();
  if (downstream.admit_while_closed() || downstream.admit(this, claim.range.count(), SteadyClock::now()))
    return stage_.handler->handle(Task(claim, *this));
  withhold(Task(claim, *this));
}

/// The records have not begun; they wait until the breaker lets them through.
void Execution::withhold(handler::Task task) const {
  const auto size = task.sequential() ? 1 : task.size();  // the other records of a key wait behind the first
  for (std::uint32_t i = 0; i < size; ++i) {
    auto outcome = handler::Outcome::unavailable({});
    outcome.cause = handler::Cause::withheld;
    task.answer(i, std::move(outcome));
  }
}

void Execution::finished(handler::Finished finished) noexcept {
  inside_.fetch_add(1, std::memory_order_relaxed);
  const pool::Claim claim = finished.claim;
  const auto ran = finished.failures.empty() ? pool::Ran{finished.done, finished.done} : ran_of(finished);
  const bool signal = finished.done != claim.range.count() || eager_.load(std::memory_order_relaxed);
  count(finished, batch_of(claim.range));
  claim.slot->set_answered();  // a batch in the mailbox no longer belongs to the pool's view
  {
    MutexLock lock(mutex_);
    mailbox_.push_back(std::move(finished));
    any_.store(true, std::memory_order_relaxed);
  }
  // After the mailbox: when the pool reports that it is drained, the mailbox is complete.
  pool_->finish(claim, ran);
  if (signal) on_finished_();
  inside_.fetch_sub(1, std::memory_order_release);  // the lane may be destroyed after this
}

void Execution::count(const handler::Finished& finished, const WorkBatch& batch) {
  const auto event = event_of(batch.route, batch.passes_on, handler::Verdict::done);
  if (event == RecordEvent::written) return count_written(finished, batch);
  if (finished.done > 0 && after(RecordState::running, event).commits)
    stats_.outcomes[static_cast<std::size_t>(handler::OutcomeLabel::success)].add(finished.done);
  for (const auto& failure : finished.failures)
    if (failure.outcome.cause != handler::Cause::withheld)
      stats_.outcomes[static_cast<std::size_t>(label_of(failure.outcome))].add(1);
  tell_downstream(finished, batch);
  if (stage_.adaptive != nullptr) tell_limit(finished, *batch.line);
  if (batch.line->rate() != nullptr) keep_pace(finished, batch);
}

void Execution::count_written(const handler::Finished& finished, const WorkBatch& batch) {
  if (batch.route == handler::Route::retry_topic) return stats_.retry_topics.add(finished.done);
  if (batch.route == handler::Route::parked) return stats_.parked.add(finished.done);
  if (finished.done == 0) return;
  const auto why = batch.items[finished.claim.range.begin].failures->given_up;
  stats_.dead_letters[static_cast<std::size_t>(why)].add(1);
  if (lane_.totals != nullptr) lane_.totals->dead_letters.add(1);
}

/// A subscriber that is out is held back by its own breaker, and one that answers 429 by its own pace:
/// neither may lower the limit of all.
void Execution::tell_limit(const handler::Finished& finished, const Line& line) {
  const auto now = SteadyClock::now();
  const auto* subscriber = line.subscriber();
  if (!line.downstream().closed()) {
    if (subscriber == nullptr) stage_.adaptive->ended_in_outage(now);
    return;
  }
  auto calls = ended_calls(finished, stage_.handler->fills_tasks());
  if (subscriber != nullptr) {
    calls.throttled = 0;
    calls.part = subscriber;
  }
  if (calls.worked + calls.dropped() > 0) stage_.adaptive->ended(calls, now);
}

/// A limit that adapts answers the first 429s: the pace would lower the rate as well.
void Execution::keep_pace(const handler::Finished& finished, const WorkBatch& batch) {
  const auto& line = *batch.line;
  auto& rate = *line.rate();
  if (finished.done > 0 && rate.keeps_pace()) rate.worked(finished.done, SteadyClock::now());
  for (const auto& [index, outcome] : finished.failures) {
    if (outcome.cause != handler::Cause::throttled) continue;
    if (line.adaptive() != nullptr && !outcome.after && line.adaptive()->can_fall()) continue;
    const auto& failures = batch.items[index].failures;
    rate.throttled(outcome.after, failures && failures->throttled > 0, SteadyClock::now());
  }
}

void Execution::tell_downstream(const handler::Finished& finished, const WorkBatch& batch) {
  const auto& failures = finished.failures;
  if (!failures.empty() && failures.front().outcome.cause == handler::Cause::withheld) return;
  auto& downstream = batch.line->downstream();
  const auto calls = calls_of(finished, batch.items, stage_.handler->fills_tasks());
  const bool cut_off = cut_off_.load(std::memory_order_relaxed);
  const auto told = cut_off ? 0 : calls.worked + static_cast<std::uint32_t>(calls.failed.size());
  // The average of each call: only the sum is known.
  const auto took = finished.busy / std::max(calls.taken_part, 1U);
  if (failures.empty() && told > 0 && downstream.all_worked(told, finished.done, took, finished.ended))
    return downstream.task_ended();
  if (finished.done > 0) downstream.done(finished.done);
  if (told > 0) {
    const auto now = SteadyClock::now();
    std::uint32_t worked = 0;
    for (const auto& [failure, worked_before] : calls.failed) {
      if (worked_before > worked) downstream.worked(worked_before - worked, took, now);
      worked = worked_before;
      auto call = failed_call(batch.items[failure->index], *failure);
      call.took = took;
      downstream.failed(call, now);
    }
    if (calls.worked > worked) downstream.worked(calls.worked - worked, took, now);
  }
  for (const auto& [index, outcome] : failures)
    if (outcome.cause == handler::Cause::throttled && !outcome.same_call)
      downstream.throttled(outcome.reason, SteadyClock::now());
  const auto silent = finished.claim.range.count() - told;
  if (silent > 0) downstream.ended(silent);
  downstream.task_ended();
  // A row of failures may have waited for this task, as for the other records of a request.
  if (!failures.empty() && downstream.running() == 0) downstream.settle(SteadyClock::now());
}

/// A failure by which the downstream reports its own state counts for every record alike.
FailedCall Execution::failed_call(const handler::Item& item, const handler::Failure& failure) const {
  const auto& outcome = failure.outcome;
  FailedCall call{.reason = outcome.reason, .kind = kind_of(outcome.cause)};
  if (outcome.verdict == handler::Verdict::unavailable) {
    call.after = outcome.after;
    return call;
  }
  call.record = ids_.of(item);
  call.suspect = item.suspect;
  if (item.failures) call.before = &item.failures->blame;
  return call;
}

std::unique_ptr<tracing::AttemptTrace> Execution::begun(const handler::Item& item) noexcept {
  if (lane_.tracer == nullptr || item.route() != handler::Route::work) return nullptr;
  return lane_.tracer->begin(item.record);
}

void Execution::attempted(const handler::Item& item, const handler::BegunAttempt& begun, TimePoint end,
                          const handler::Outcome& outcome) noexcept {
  const auto event = event_of(item.route(), stage_.passes_on(), outcome.verdict, outcome.cause);
  if (event == RecordEvent::withheld) return;
  const char* name = outcome_name(outcome);
  if (begun.trace != nullptr)
    lane_.tracer->end(*begun.trace, {id_.partition.topic, id_.partition.partition, item.offset(),
                                     item.attempt, begun.start, end, name, outcome.reason});
  if (lane_.journal == nullptr) return;
  const bool letter = item.route() == handler::Route::dead_letter;
  const bool parked = item.route() == handler::Route::parked;
  if (event == RecordEvent::written) name = letter ? "dead_letter" : parked ? "parked" : "retry_topic";
  if (event == RecordEvent::not_written)
    name = letter ? "dead_letter_failed" : parked ? "parked_failed" : "retry_topic_failed";
  if (event == RecordEvent::passed_on) name = "passed_on";
  const auto part = item.progress ? std::string_view(item.progress->part) : std::string_view();
  const handler::Content record(item.record);
  lane_.journal->write({id_.partition, item.offset(), record.key(), id_.epoch, item.attempt, begun.start, end,
                        name, pool_name_, part});
}

void Execution::collect(std::vector<handler::Finished>& into) {
  into.clear();
  if (!any_.load(std::memory_order_relaxed)) return;
  MutexLock lock(mutex_);
  into.swap(mailbox_);
  any_.store(false, std::memory_order_relaxed);
}

}  // namespace laneway::lane
