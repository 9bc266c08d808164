#include "lane/execution.h"

namespace laneway::lane {

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

void Execution::finished(handler::Finished finished) noexcept {
  const pool::Claim claim = finished.claim;
  const bool signal = !finished.failures.empty() || finished.done != claim.range.count() ||
                      eager_.load(std::memory_order_relaxed);
  if (finished.done > 0) stats_.outcomes[static_cast<std::size_t>(OutcomeLabel::success)].add(finished.done);
  for (const auto& failure : finished.failures)
    stats_.outcomes[static_cast<std::size_t>(label_of(failure.outcome))].add(1);
  {
    MutexLock lock(mutex_);
    mailbox_.push_back(std::move(finished));
    any_.store(true, std::memory_order_relaxed);
  }
  // After the mailbox: when the pool says that it is drained, everything is in.
  pool_->finish(claim);
  if (signal) on_finished_();
}

void Execution::attempted(const handler::Item& item, TimePoint start, TimePoint end,
                          const handler::Outcome& outcome) noexcept {
  journal_->write(item.record, epoch_, item.attempt, start, end, outcome);
}

void Execution::collect(std::vector<handler::Finished>& into) {
  into.clear();
  if (!any_.load(std::memory_order_relaxed)) return;
  MutexLock lock(mutex_);
  into.swap(mailbox_);
  any_.store(false, std::memory_order_relaxed);
}

}  // namespace laneway::lane
