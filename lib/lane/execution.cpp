#include "lane/execution.h"

#include <algorithm>

namespace laneway::lane {

namespace {

/// What the breaker withheld was no attempt; one that finds the downstream out is over before its work.
pool::Ran ran_of(const handler::Finished& finished) {
  pool::Ran ran{finished.done, finished.done};
  for (const auto& [index, outcome] : finished.failures) {
    if (outcome.cause == handler::Cause::withheld) continue;
    ++ran.attempts;
    if (outcome.verdict != handler::Verdict::unavailable) ++ran.typical;
  }
  return ran;
}

/// What the answers of a task say of the downstream. A call of several records is one call.
struct Calls {
  std::uint32_t answered = 0;
  std::uint32_t timed_out = 0;
  std::vector<const handler::Outcome*> failed{};
  std::uint32_t taken_part = 0;  // the calls that had a record of the task

  std::uint32_t count() const { return answered + timed_out + static_cast<std::uint32_t>(failed.size()); }
};

void add_failure(const handler::Outcome& outcome, Calls& calls) {
  using handler::Cause;
  if (outcome.cause == Cause::local) return;  // the downstream was not asked
  const bool failed = outcome.verdict == handler::Verdict::unavailable;
  if (!failed && outcome.cause != Cause::verdict && outcome.cause != Cause::timeout) return;
  if (!failed) ++calls.taken_part;
  if (outcome.same_call) return;
  if (failed)
    calls.failed.push_back(&outcome);
  else
    ++(outcome.cause == Cause::verdict ? calls.answered : calls.timed_out);
}

/// `one_call`: the handler works on a task at once. A downstream that answers for one of the records works.
Calls calls_of(const handler::Finished& finished, bool one_call) {
  Calls calls;
  calls.answered = finished.done - finished.same_call;
  calls.taken_part = finished.done;
  for (const auto& failure : finished.failures) add_failure(failure.outcome, calls);
  if (!one_call || calls.count() == 0) return calls;
  if (calls.answered > 0) return {.answered = 1, .taken_part = 1};
  if (!calls.failed.empty()) return {.failed = {calls.failed.front()}};
  return {.timed_out = 1, .taken_part = 1};
}

}  // namespace

OutcomeLabel label_of(const handler::Outcome& outcome) {
  if (outcome.cause == handler::Cause::panic) return OutcomeLabel::panic;
  if (outcome.cause == handler::Cause::timeout) return OutcomeLabel::timeout;
  switch (outcome.verdict) {
    case handler::Verdict::done:
      return OutcomeLabel::success;
    case handler::Verdict::retry:
      return OutcomeLabel::retry;
    case handler::Verdict::reject:
      return OutcomeLabel::rejected_record;
    case handler::Verdict::unavailable:
      return OutcomeLabel::unavailable;
  }
  return OutcomeLabel::panic;
}

void Execution::run(const pool::Claim& claim) noexcept {
  handler::Task task(claim, *this);
  if (task.route() != handler::Route::work) return context_.forward->handle(std::move(task));
  if (!watched() || context_.downstream->admit(this, task.size(), SteadyClock::now()))
    return context_.handler->handle(std::move(task));
  withhold(std::move(task));
}

/// Not begun: they wait until the breaker lets them through.
void Execution::withhold(handler::Task task) const {
  const auto size = task.sequential() ? 1 : task.size();  // the rest of a key waits behind its first
  for (std::uint32_t i = 0; i < size; ++i) {
    auto outcome = handler::Outcome::unavailable({});
    outcome.cause = handler::Cause::withheld;
    task.answer(i, std::move(outcome));
  }
}

void Execution::finished(handler::Finished finished) noexcept {
  inside_.fetch_add(1, std::memory_order_relaxed);
  const pool::Claim claim = finished.claim;
  const pool::Ran ran = ran_of(finished);
  const bool signal = !finished.failures.empty() || finished.done != claim.range.count() ||
                      eager_.load(std::memory_order_relaxed);
  count(finished, static_cast<const handler::RecordBatch&>(*claim.range.batch));
  claim.slot->set_answered();  // the batch is not the pool's to show once it is in the mailbox
  {
    MutexLock lock(mutex_);
    mailbox_.push_back(std::move(finished));
    any_.store(true, std::memory_order_relaxed);
  }
  // After the mailbox: when the pool says that it is drained, everything is in.
  pool_->finish(claim, ran);
  if (signal) on_finished_();
  inside_.fetch_sub(1, std::memory_order_release);  // the lane may be gone after this
}

void Execution::count(const handler::Finished& finished, const handler::RecordBatch& batch) {
  if (batch.route == handler::Route::dead_letter) {
    if (finished.done > 0) {
      const auto why = batch.items[finished.claim.range.begin].failures->given_up;
      stats_.dead_letters[static_cast<std::size_t>(why)].add(1);
    }
    return;
  }
  if (batch.route == handler::Route::retry_topic) return stats_.retry_topics.add(finished.done);
  if (finished.done > 0) stats_.outcomes[static_cast<std::size_t>(OutcomeLabel::success)].add(finished.done);
  for (const auto& failure : finished.failures)
    if (failure.outcome.cause != handler::Cause::withheld)
      stats_.outcomes[static_cast<std::size_t>(label_of(failure.outcome))].add(1);
  if (watched()) tell_downstream(finished);
}

void Execution::tell_downstream(const handler::Finished& finished) {
  const auto& failures = finished.failures;
  if (!failures.empty() && failures.front().outcome.cause == handler::Cause::withheld) return;
  const auto now = SteadyClock::now();
  auto& downstream = *context_.downstream;
  const auto calls = calls_of(finished, context_.handler->fills_tasks());
  for (const auto* outcome : calls.failed) downstream.failed(outcome->reason, outcome->after, now);
  const auto took = finished.busy / std::max(calls.taken_part, 1U);
  if (calls.answered > 0) downstream.answered(calls.answered, took, now);
  if (calls.timed_out > 0) downstream.timed_out(calls.timed_out, took, now);
  const auto silent = finished.claim.range.count() - calls.count();
  if (silent > 0) downstream.ended(silent);
}

std::unique_ptr<handler::AttemptTrace> Execution::begun(const handler::Item& item) noexcept {
  if (context_.tracer == nullptr || item.route() != handler::Route::work) return nullptr;
  return context_.tracer->begin(item.record);
}

void Execution::attempted(const handler::Item& item, const handler::BegunAttempt& begun, TimePoint end,
                          const handler::Outcome& outcome) noexcept {
  if (outcome.cause == handler::Cause::withheld) return;
  const char* name = outcome_name(outcome);
  if (begun.trace != nullptr)
    context_.tracer->end(*begun.trace, {partition_.topic, partition_.partition, item.offset(), item.attempt,
                                        begun.start, end, name, outcome.reason});
  if (context_.journal == nullptr) return;
  const bool done = outcome.verdict == handler::Verdict::done;
  if (item.route() == handler::Route::dead_letter) name = done ? "dead_letter" : "dead_letter_failed";
  if (item.route() == handler::Route::retry_topic) name = done ? "retry_topic" : "retry_topic_failed";
  context_.journal->write(
      {partition_, item.offset(), item.record.key(), epoch_, item.attempt, begun.start, end, name});
}

void Execution::collect(std::vector<handler::Finished>& into) {
  into.clear();
  if (!any_.load(std::memory_order_relaxed)) return;
  MutexLock lock(mutex_);
  into.swap(mailbox_);
  any_.store(false, std::memory_order_relaxed);
}

}  // namespace laneway::lane
