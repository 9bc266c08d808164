#include "pool/help.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "pool/pool.h"

namespace laneway::pool {

// Asynchronous work

/// Nothing begins while work is already being passed on: by another thread, or by this one further up the
/// stack.
void Pool::begin_to_pass_on(TimePoint now, Next& next) {
  if (!passing_on_) passing_on_ = choose(now, next);
}

/// Returns whether to call the helpers.
bool Pool::pass_on(Next next) {
  for (;;) {
    if (next.borrower != nullptr)
      serve(*next.borrower, next.errand);
    else
      work_.run(*next.claim);
    Permitted permitted;
    bool more = false;
    bool call = false;
    {
      MutexLock lock(mutex_);
      next = {};
      more = passing_on_ = choose(SteadyClock::now(), next);
      if (!more) {
        if (permits_) give_back_unused_permits(0, permitted);
        call = !helpers_.empty() && calls_for_help();
      }
    }
    for (auto* waiter : permitted) waiter->permitted();
    if (!more) return call;
  }
}

// Permits

/// The threads that look for a claim without being woken: on their way, or about to return from a claim that
/// is finished.
std::uint32_t Pool::coming() const {
  if (asynchronous_) return passing_on_ ? 1 : 0;
  const auto errands = static_cast<std::uint32_t>(errands_.size());
  const auto running = slots_.counts().in_use + slots_.counts().lent - errands;
  const auto threads = thread_state_.counts();
  return std::max(threads.searchers(), threads.awake() - std::min(threads.awake(), running));
}

void Pool::permitted() {
  Permitted others;
  Next next;
  {
    MutexLock lock(mutex_);
    permits_->granted();
    if (asynchronous_)
      begin_to_pass_on(SteadyClock::now(), next);
    else if (claimable() && permits_->unused() > coming())
      next.wake = wake_one();
    next.call = !helpers_.empty() && calls_for_help();
    if (!next.call) give_back_unused_permits(0, others);
    ++signalling_;
  }
  for (auto* waiter : others) waiter->permitted();
  set_to_work(next);
  if (next.call) {
    Permitted unused;
    {
      MutexLock lock(mutex_);
      give_back_unused_permits(0, unused);
    }
    for (auto* waiter : unused) waiter->permitted();
  }
  end_signalling();
}

/// Keeps one for each thread that comes for it; `leaving` of these do not come after all.
void Pool::give_back_unused_permits(std::uint32_t leaving, Permitted& to) {
  if (permits_->unused() == 0) return;
  auto takers = coming();
  takers = (claimable() ? takers - std::min(takers, leaving) : 0) + errands_coming_;
  permits_->give_back_unused(queued_ > 0 ? takers : 0, to);
}

void Pool::stop_waiting_in_vain() {
  if (!permits_->waiting()) return;
  if (queued_ == 0 || (slots_.counts().free == 0 && helpers_.empty())) permits_->stop_waiting();
}

// How a pool lends its slots to the pools that it helps, and calls its own helpers. The loan is counted under
// the lender's lock, then the claim is taken under the borrower's; no thread holds the locks of two pools. A
// pool that needs help calls its helpers, and a helper whose slot becomes free looks at the pools that it
// helps: whichever comes second sees the other, because both happen under the helper's lock.

void help(Pool& helper, const std::vector<Pool*>& helped) {
  for (std::size_t rank = 0; rank < helped.size(); ++rank) {
    Pool& other = *helped[rank];
    if (&other == &helper) throw std::invalid_argument("A pool cannot help itself.");
    if (helper.asynchronous_ && !other.asynchronous_)
      throw std::invalid_argument("An asynchronous pool has no threads for a pool whose work blocks.");
    {
      MutexLock lock(helper.mutex_);
      helper.helps_.push_back(&other);
    }
    MutexLock lock(other.mutex_);
    const auto nearer = [rank](const Pool::Helper& one) { return one.rank <= rank; };
    const auto at = std::find_if_not(other.helpers_.begin(), other.helpers_.end(), nearer);
    other.helpers_.insert(at, {&helper, rank});
  }
}

void Pool::detach() {
  std::vector<Pool*> peers;
  {
    MutexLock lock(mutex_);
    peers = helps_;
    for (const auto& helper : helpers_) peers.push_back(helper.pool);
  }
  for (auto* peer : peers) {
    MutexLock lock(peer->mutex_);
    std::erase(peer->helps_, this);
    std::erase_if(peer->helpers_, [this](const Helper& helper) { return helper.pool == this; });
  }
  MutexLock lock(mutex_);
  while (!ended()) ended_.wait(mutex_);  // for visitors that came before
}

// The helper

bool Pool::choose_with_helping(TimePoint now, Next& next) {
  if (!errands_.empty()) {
    next.borrower = errands_.front();
    next.errand = true;
    errands_.erase(errands_.begin());
    return true;
  }
  const bool first = own_first(now) && (!permits_ || permits_->obtain());
  if (!first) {
    next.borrower = lend_to_next(now);
    if (next.borrower != nullptr) return true;
    if (!claimable() || (permits_ && !permits_->obtain())) return false;
  }
  next.claim = take_claim(now);
  begun(*next.claim, first && somebody_wants_help(), now);
  return true;
}

/// Whether an own job goes before helped jobs.
bool Pool::own_first(TimePoint now) {
  if (!claimable()) return false;
  if (const auto waited = now - oldest(); !overdue_since_ && waited > limits_.longest_wait)
    overdue_since_ = now - (waited - limits_.longest_wait);
  if (!overdue_since_) return false;
  return kept_since_ || own_share_.due(now, now - *overdue_since_, limits_.workers);
}

/// An own claim has begun. If it went before helped jobs, it counts in the own share, with the time for which
/// a slot was kept for it.
void Pool::begun(const Claim& claim, bool before_helped, TimePoint now) {
  if (before_helped) {
    const auto kept = kept_since_ ? now - *kept_since_ : Duration::zero();
    own_share_.begin(now, kept, limits_.workers);
    static_cast<WorkerSlot&>(*claim.slot).own_share = true;
  } else if (overdue_since_) {
    overdue_since_ = now;
  }
  kept_since_.reset();
}

/// Lends a slot to the first pool that wants one.
Pool* Pool::lend_to_next(TimePoint now) {
  for (auto* other : helps_) {
    if (!other->wants_help_) continue;
    if (!may_lend(now)) return nullptr;
    slots_.lend();
    ++other->visitors_;
    return other;
  }
  return nullptr;
}

bool Pool::somebody_wants_help() const {
  if (ending_) return false;
  for (const auto* other : helps_)
    if (other->wants_help_) return true;
  return false;
}

/// Runs a claim of the borrower, to which a slot has been lent, or ends the loan.
void Pool::serve(Pool& borrower, bool errand) {
  const Served served = borrower.run_on_loan(*this, errand);
  if (served.call) borrower.call_helpers();
  borrower.end_visit();
  if (!served.ran) loan_ended(false);
}

/// Whether to lend a slot to a pool that wants one. While an own job that goes first waits for a permit, one
/// slot is kept for it.
bool Pool::may_lend(TimePoint now) {
  if (ending_ || slots_.counts().free == 0) return false;
  if (!own_first(now)) return true;
  if (!permits_ || !permits_->waiting()) return false;
  if (!kept_since_) kept_since_ = now;
  return slots_.counts().free > 1;
}

/// Lends a slot to a pool that needs no thread.
bool Pool::lend() {
  MutexLock lock(mutex_);
  const bool lends = may_lend(SteadyClock::now());
  if (lends) slots_.lend();
  --visitors_;
  if (ended()) ended_.notify_all();
  return lends;
}

/// Lends a slot and sends a thread.
bool Pool::take_errand(Pool& borrower) {
  bool taken = false;
  Thread* wake = nullptr;
  {
    MutexLock lock(mutex_);
    if (may_lend(SteadyClock::now())) {
      errands_.push_back(&borrower);
      slots_.lend();
      if (coming() < errands_.size()) wake = wake_one();
      taken = coming() >= errands_.size();
      if (!taken) {  // no thread can be started
        errands_.pop_back();
        slots_.end_loan(false);
      }
    }
  }
  if (wake != nullptr) wake->wake.notify_one();
  end_visit();
  return taken;
}

void Pool::loan_ended(bool stuck) {
  Next next;
  {
    MutexLock lock(mutex_);
    slots_.end_loan(stuck);
    if (asynchronous_ || slots_.counts().free == 1) next_to_work(SteadyClock::now(), next);
    ++signalling_;
  }
  set_to_work(next);
  end_signalling();
}

void Pool::loan_stuck() {
  Next next;
  {
    MutexLock lock(mutex_);
    slots_.replace_lent();
    next_to_work(SteadyClock::now(), next);
  }
  set_to_work(next);
}

// The borrower

/// Whether there are jobs for helpers, and it is worth waking one.
bool Pool::calls_for_help() {
  if (queued_ == 0 || slots_.counts().free > 0 || passing_on_ || (permits_ && permits_->waiting()))
    return false;
  wants_help_ = true;
  const std::uint64_t expected =
      std::uint64_t{errands_coming_} * job_time_.jobs_in(claim_time, largest_claim);
  if (queued_ <= expected) return false;
  const auto awake = thread_state_.counts().awake() + slots_.counts().borrowed;
  if (!asynchronous_ && !job_time_.worth_a_wake_up(queued_ - expected, awake)) return false;
  return !permits_ || permits_->unused() > errands_coming_ || permits_->in_sight();
}

/// Calls the helpers, the nearest first, until enough of them come or no more has a free slot.
void Pool::call_helpers() {
  for (std::size_t i = 0;;) {
    Pool* helper = nullptr;
    {
      MutexLock lock(mutex_);
      if (i >= helpers_.size() || !calls_for_help()) return;
      helper = helpers_[i].pool;
      ++helper->visitors_;
      ++visitors_;  // the errand, or this thread
      if (!asynchronous_) ++errands_coming_;
    }
    if (!asynchronous_) {
      if (helper->take_errand(*this)) continue;
      Permitted unused;
      {
        MutexLock lock(mutex_);
        --errands_coming_;
        if (permits_) give_back_unused_permits(0, unused);
      }
      for (auto* waiter : unused) waiter->permitted();
    } else if (helper->lend()) {
      if (!run_on_loan(*helper, false).ran) helper->loan_ended(false);
      end_visit();
      continue;
    }
    end_visit();
    ++i;
  }
}

/// Runs a claim on a slot that the lender has lent, if this pool still needs it.
Pool::Served Pool::run_on_loan(Pool& lender, bool errand) {
  Next next;
  Permitted permitted;
  bool call = false;
  {
    MutexLock lock(mutex_);
    if (errand) --errands_coming_;
    if (queued_ > 0 && slots_.counts().free == 0 && !passing_on_ && (!permits_ || permits_->obtain())) {
      next.claim = take_claim(SteadyClock::now(), &lender);
      if (ending_ && queued_ == 0) wake_all();
      passing_on_ = asynchronous_;
      call = calls_for_help();
    } else {
      wants_help_ = false;
      if (permits_) give_back_unused_permits(0, permitted);
    }
  }
  for (auto* waiter : permitted) waiter->permitted();
  if (!next.claim) return {};
  if (asynchronous_) return {true, pass_on(next)};
  if (call) call_helpers();
  work_.run(*next.claim);
  return {true, false};
}

void Pool::end_visit() {
  MutexLock lock(mutex_);
  --visitors_;
  if (ended()) ended_.notify_all();
}

}  // namespace laneway::pool
