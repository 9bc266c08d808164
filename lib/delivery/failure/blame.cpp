#include "delivery/failure/blame.h"

#include <algorithm>
#include <numeric>

namespace laneway::delivery {
namespace {

constexpr std::size_t most_open = 64;  // attempts; without a dead-letter topic there may be many
constexpr Duration look_again = milliseconds(100);
constexpr Duration longest_doubt = seconds(3);
constexpr Duration longest_rest = seconds(1);
constexpr Duration longest_unclear = seconds(5);

}  // namespace

Blame::Step Blame::failed(const Breaker& breaker, const FailedAttempt& attempt, const FailureRules& rules) {
  if (breaker.state() != Breaker::State::closed) {
    failed_in_ = breaker.outages();
    // The breaker decides when the next attempt begins; a longer delay would only outlast the outage.
    return {{}, std::min(rules.delays.delay(1, attempt.random, attempt.after), longest_rest)};
  }
  if (attempt.unavailable) {
    in_a_row_ = std::min(in_a_row_ + 1, 64U);
    return {{}, rules.delays.delay(in_a_row_, attempt.random, attempt.after)};
  }
  give_back(breaker);
  in_a_row_ = 0;
  count(attempt);
  const auto step =
      rules.after_retry(counted(), breaker.beyond_chance(), spent(), attempt.random, attempt.after);
  if (!step.given_up) {
    attempts_.back().spent += step.delay;
    return {{}, step.delay};
  }
  if (!breaker.in_doubt(attempt.record)) return {step.given_up, {}};
  why_ = *step.given_up;
  undecided_since_ = attempt.ended;
  successes_before_ = breaker.successes();
  return {{}, look_again, true};
}

Blame::Step Blame::reconsider(const Breaker& breaker, const FailureRules& rules, TimePoint now,
                              double random) {
  const auto before = counted();
  give_back(breaker);
  if (breaker.state() != Breaker::State::closed || counted() < before)
    return {{}, std::min(rules.delays.delay(1, random), longest_rest)};
  const bool works = breaker.successes() > successes_before_ && !breaker.most_fail();
  if (works || now - undecided_since_ >= longest_doubt) return {why_, {}};
  return {{}, look_again, true};
}

void Blame::count(const FailedAttempt& attempt) {
  if (attempts_.size() == most_open) {
    ++settled_;
    spent_by_settled_ += attempts_.front().spent;
    attempts_.erase(attempts_.begin());
  }
  attempts_.push_back({attempt.ended, attempt.took});
  if (!first_failed_) first_failed_ = attempt.ended;
}

bool Blame::pardons(const Breaker& breaker, TimePoint failed) const {
  return failed - first_failed_.value_or(failed) < longest_unclear && breaker.in_unclear_row(failed);
}

void Blame::give_back(const Breaker& breaker) {
  std::erase_if(attempts_, [&](const Attempt& attempt) { return breaker.was_out(attempt.failed); });
  const auto pardoned =
      std::erase_if(attempts_, [&](const Attempt& attempt) { return pardons(breaker, attempt.failed); });
  pardoned_ = pardoned_ || pardoned > 0;
}

bool Blame::suspect(const Breaker& breaker) const {
  return settled_ > 0 || std::any_of(attempts_.begin(), attempts_.end(), [&](const Attempt& attempt) {
           return !breaker.was_out(attempt.failed) && !breaker.in_waiting_row(attempt.failed) &&
                  !pardons(breaker, attempt.failed);
         });
}

Duration Blame::spent() const {
  return std::accumulate(attempts_.begin(), attempts_.end(), spent_by_settled_,
                         [](Duration sum, const Attempt& attempt) { return sum + attempt.spent; });
}

}  // namespace laneway::delivery
