#include "lane/attempts/attempts.h"

#include <algorithm>
#include <utility>

#include "handler/forward/retry_record.h"
#include "lane/batch/work_batch.h"
#include "lane/state/record_life.h"

namespace laneway::lane {
namespace {

/// The event of a failed attempt, for the log.
const char* words_of(RecordEvent event, handler::Route before) {
  using handler::Route;
  if (event == RecordEvent::failed) return "record failed, will be retried";
  if (event == RecordEvent::given_up)
    return before == Route::work ? "record failed, goes to its retry topic"
                                 : "record refused by its retry topic, goes to the dead-letter topic";
  return before == Route::dead_letter ? "dead letter not written, will be tried again"
                                      : "record not written to its retry topic, will be tried again";
}

delivery::FailureRules make_rules(const LaneContext& context) {
  const auto& retry = context.retry;
  return {{retry.backoff, retry.max_backoff}, retry.attempts, retry.max_elapsed, context.forward != nullptr};
}

void give_up(handler::Item& item, handler::Route route, delivery::DeadLetterReason why) {
  item.failures->route = route;
  item.failures->given_up = why;
}

}  // namespace

Attempts::Attempts(const LaneContext& context, Downstream& downstream, bool limit_adapts,
                   const Members& members)
    : context_(context),
      downstream_(downstream),
      limit_adapts_(limit_adapts),
      ledger_(members.ledger),
      oldest_(members.oldest),
      retry_step_(members.retry_step),
      ids_(members.id.partition),
      rules_(make_rules(context)),
      random_(static_cast<std::uint32_t>(members.id.epoch * 7919 + 17)),
      log_(members.id) {}

void Attempts::follow_settings() { rules_ = make_rules(context_); }

/// In a retry topic each record has one attempt. A parked record has those that were left where it was.
delivery::FailureRules Attempts::rules_for(const handler::Item& item) const {
  auto rules = rules_;
  const auto* step = item.failures ? item.failures->retry_step : retry_step_;
  if (step != nullptr && step->delayed())
    rules.attempts = 1;
  else if (item.failures && item.failures->waiting_since_ms > 0)
    rules.attempts -= std::min(item.failures->attempts_before, rules.attempts - 1);
  return rules;
}

std::optional<handler::Item> Attempts::fail(handler::Item item, const handler::Outcome& outcome,
                                            Duration took, TimePoint now) {
  if (skip_if_wished(item, outcome)) return item;
  if (item.arrived == TimePoint{}) item.arrived = now;
  const auto before = item.route();
  const auto answer = event_of(before, false, outcome.verdict, outcome.cause);
  if (before == handler::Route::parked) {
    stay(std::move(item), outcome, now);
    return {};
  }
  if (answer == RecordEvent::withheld) {
    withhold(std::move(item));
    return {};
  }
  log_.remember(item, outcome);
  if (answer == RecordEvent::failed)
    note_failure(item, outcome);
  else
    item.failures->not_written = outcome.reason.substr(0, longest_reason);
  const auto number = item.attempt;
  const auto delay = next_step(item, outcome, took, now);
  const auto event = delay ? answer : RecordEvent::given_up;
  // A dead letter is logged when it is written.
  const bool letter = answer == RecordEvent::failed && item.route() == handler::Route::dead_letter;
  if (!letter) log_.failed(words_of(event, before), item, number, outcome, now);
  if (after(RecordState::running, event).owner != RecordOwner::attempts) return item;
  wait(std::move(item), now + delay.value_or(Duration::zero()));
  return {};
}

handler::FailureHistory& Attempts::history_of(handler::Item& item) const {
  if (!item.failures) {
    item.failures = std::make_unique<handler::FailureHistory>();
    item.failures->retry_step = retry_step_;
    item.failures->done_before = ledger_.done();
  }
  return *item.failures;
}

void Attempts::note_failure(handler::Item& item, const handler::Outcome& outcome) const {
  auto& failures = history_of(item);
  failures.last_ms = wall_clock_ms();
  if (failures.first_ms == 0) failures.first_ms = failures.last_ms;
  failures.reason = outcome.reason.substr(0, longest_reason);
  failures.last_attempt = item.attempt;
  failures.unavailable = outcome.verdict == handler::Verdict::unavailable;
  if (outcome.same_call) ++failures.shared;
  failures.throttled = outcome.cause == handler::Cause::throttled ? failures.throttled + 1 : 0;
}

/// A limit that follows the downstream is soon right again: a record that was refused meanwhile must not hold
/// its lane for much longer than that.
std::uint32_t Attempts::throttled_times(const handler::FailureHistory& failures) const {
  constexpr std::uint32_t most_behind_a_limit = 5;
  return limit_adapts_ ? std::min(failures.throttled, most_behind_a_limit) : failures.throttled;
}

/// The delay before the next attempt; nullopt if the record goes to the topic of its new route at once.
std::optional<Duration> Attempts::next_step(handler::Item& item, const handler::Outcome& outcome,
                                            Duration took, TimePoint now) {
  auto& failures = *item.failures;
  if (failures.route == handler::Route::retry_topic && outcome.verdict == handler::Verdict::reject) {
    failures.route = handler::Route::dead_letter;  // the retry topic will never accept the record
    return std::nullopt;
  }
  if (failures.route != handler::Route::work)
    return rules_.delays.delay(++failures.forward_attempts, random(), outcome.after);
  // The pace of all lanes (lane/shared/rate_limiter.h) decides how often such records run. A record that is
  // always answered "too often" must not keep that pace low.
  if (outcome.cause == handler::Cause::throttled)
    return rules_.delays.delay(throttled_times(failures), random(), outcome.after);
  if (outcome.verdict != handler::Verdict::unavailable &&
      context_.ledger.policy == config::LedgerPolicy::dead_letter && rules_.dead_letters &&
      oldest_.is_oldest(item.sequence)) {
    if (const auto why = oldest_.outlived(now)) {
      give_up(item, handler::Route::dead_letter, *why);
      return std::nullopt;
    }
  }
  if (outcome.verdict == handler::Verdict::reject) return after_reject(item, outcome, now);
  return follow(item, judge(item, outcome, took, now));
}

delivery::Blame::Step Attempts::judge(handler::Item& item, const handler::Outcome& outcome, Duration took,
                                      TimePoint now) {
  // The loop may have read its clock before the worker reported the failure to the downstream.
  const delivery::FailedAttempt attempt{.record = ids_.of(item),
                                        .ended = std::max(now, SteadyClock::now()),
                                        .took = took,
                                        .random = random(),
                                        .unavailable = item.failures->unavailable,
                                        .after = outcome.after};
  return downstream_.judge(item.failures->blame, attempt, rules_for(item));
}

void Attempts::fail_in_drain(handler::Item& item, const handler::Outcome& outcome, Duration took,
                             TimePoint now) {
  using handler::Cause;
  // What is not seen stays a suspect; of several records in one call, the call speaks against one.
  if (item.suspect || outcome.same_call || item.route() != handler::Route::work) return;
  if (outcome.verdict == handler::Verdict::reject || outcome.cause == Cause::withheld ||
      outcome.cause == Cause::throttled)
    return;
  note_failure(item, outcome);
  (void)judge(item, outcome, took, now);
  failed_in_drain_.emplace_back(item.sequence, item.failures->blame);
}

std::optional<Duration> Attempts::after_reject(handler::Item& item, const handler::Outcome& outcome,
                                               TimePoint now) {
  const auto step = rules_.after_reject(item.attempt, random());
  ++item.attempt;
  if (!step.given_up) return step.delay;
  if (!downstream_.admits_rejection(now)) return rules_.delays.delay(item.attempt, random(), outcome.after);
  --item.attempt;
  give_up(item, route_after(item, *step.given_up), *step.given_up);
  return std::nullopt;
}

/// Carries out what delivery::Blame has decided.
std::optional<Duration> Attempts::follow(handler::Item& item, const delivery::Blame::Step& step) {
  auto& failures = *item.failures;
  failures.undecided = step.undecided;
  const auto counted = failures.blame.counted();
  if (step.given_up) {
    item.attempt = failures.attempts_before + std::max(counted, 1U);
    give_up(item, route_after(item, *step.given_up), *step.given_up);
    return std::nullopt;
  }
  item.attempt = failures.attempts_before + counted + (step.undecided ? 0 : 1);
  if (is_suspect(item)) found_.insert(item.sequence);
  return step.delay;
}

handler::Route Attempts::route_after(const handler::Item& item, delivery::DeadLetterReason given_up) {
  const auto* step = item.failures->retry_step;
  const bool later =
      given_up != delivery::DeadLetterReason::rejected && step != nullptr && !step->next.empty();
  return later ? handler::Route::retry_topic : handler::Route::dead_letter;
}

void Attempts::condemn(handler::Item& item, std::uint32_t crashes) {
  item.attempt = crashes;
  auto outcome = handler::Outcome::reject("the process ended " + std::to_string(item.attempt) +
                                          " times while this record was running (retry.max_crashes)");
  note_failure(item, outcome);
  log_.remember(item, outcome);
  give_up(item, handler::Route::dead_letter, delivery::DeadLetterReason::crashed);
}

std::optional<handler::Item> Attempts::give_up_waiting(Sequence oldest, delivery::DeadLetterReason why) {
  if (context_.ledger.policy != config::LedgerPolicy::dead_letter || context_.forward == nullptr) return {};
  auto item = taken(waiting_.take([&](const handler::Item& waiting) {
    const auto* failures = waiting.failures.get();  // also of a record that was only to be parked
    return waiting.sequence == oldest && failures != nullptr && !failures->unavailable &&
           failures->last_attempt + failures->attempts_before > 0 && waiting.route() == handler::Route::work;
  }));
  if (!item) return {};
  give_up(*item, handler::Route::dead_letter, why);
  return item;
}

Duration Attempts::restore(handler::Item& item, TimePoint now) const {
  const auto written = item.record.timestamp(), wall = wall_clock_ms();
  handler::restore_origin(item, *retry_step_, *context_.retry_steps);
  const auto left = retry_step_->wait(written, wall);
  if (item.failures->waiting_since_ms == 0) return left;
  item.failures->parked_at = now - milliseconds(written < 0 ? 0 : std::max<std::int64_t>(wall - written, 0));
  const bool ordered =
      context_.parked_orders != nullptr && context_.parked_orders->sends_on(item.failures->parked_at, now);
  return ordered ? Duration::zero() : left;
}

void Attempts::park(handler::Item& item, TimePoint now) {
  auto& failures = history_of(item);
  give_back_attempts(item);
  const auto arrived = item.arrived == TimePoint{} ? now : item.arrived;  // zero: it came in a drain
  if (failures.waiting_since_ms == 0)
    failures.waiting_since_ms = wall_clock_ms() - duration_cast<milliseconds>(now - arrived).count();
  if (failures.reason.empty()) failures.reason = downstream_.name() + " is out, or cannot keep up";
  item.attempt = failures.attempts_before + failures.blame.counted();
  failures.parks_in = &retry_step_->parks_in;
  give_up(item, handler::Route::parked, delivery::DeadLetterReason::too_old);
}

/// The retry topic has not taken the record, which is work of the lane again. It may be parked once more
/// after lanes.park_after, unless it is too large.
void Attempts::stay(handler::Item item, const handler::Outcome& outcome, TimePoint now) {
  log_.remember(item, outcome);
  log_.failed("record not parked, waits in its lane", item, item.attempt, outcome, now);
  auto& failures = *item.failures;
  failures.route = handler::Route::work;
  failures.stays = outcome.verdict == handler::Verdict::reject;
  if (item.progress && item.progress->own) item.record = std::exchange(item.progress->own, {});
  item.attempt = failures.attempts_before + failures.blame.counted() + 1;
  item.arrived = now;
  wait(std::move(item), now);
}

void Attempts::give_up_unbegun(handler::Item& item) {
  auto outcome = handler::Outcome::unavailable(downstream_.name() + " has not taken the record for too long");
  if (item.failures && !item.failures->reason.empty())
    outcome.reason += " (last error: " + item.failures->reason + ")";
  note_failure(item, outcome);
  log_.remember(item, outcome);
  // A parked record has been through the retry topics.
  const auto route = item.failures->waiting_since_ms > 0
                         ? handler::Route::dead_letter
                         : route_after(item, delivery::DeadLetterReason::too_old);
  // In the next topic, a record whose attempts have counted is a suspect.
  if (route == handler::Route::retry_topic)
    item.attempt = item.failures->attempts_before + item.failures->blame.counted();
  give_up(item, route, delivery::DeadLetterReason::too_old);
}

Attempts::Skipped Attempts::skip(Sequence sequence, const std::string& reason) {
  bool given_up = false;
  auto item = waiting_.take([&](const handler::Item& waiting) {
    if (waiting.sequence != sequence) return false;
    given_up = waiting.route() == handler::Route::dead_letter;
    return !given_up;
  });
  if (given_up) return {Skip::already_given_up, {}};
  if (!item) {
    wishes_[sequence] = reason;
    return {Skip::when_it_fails, {}};
  }
  bytes_ -= memory_of(*item);
  item->attempt = std::max(item->attempt, 2U) - 1;  // the next attempt does not take place
  give_up_ordered(*item, reason);
  log_.skipped(*item);
  return {Skip::on_its_way, std::move(item)};
}

void Attempts::give_up_ordered(handler::Item& item, const std::string& reason) {
  std::string text = "skipped by an operator: " + reason;
  if (item.failures && !item.failures->reason.empty()) text += " (last error: " + item.failures->reason + ")";
  note_failure(item, handler::Outcome::reject(std::move(text)));
  give_up(item, handler::Route::dead_letter, delivery::DeadLetterReason::skipped);
}

/// Whether an operator wanted to skip the record while it was running or queued.
bool Attempts::skip_if_wished(handler::Item& item, const handler::Outcome& outcome) {
  if (wishes_.empty() || item.route() == handler::Route::dead_letter) return false;
  const auto wish = wishes_.find(item.sequence);  // stays for the other sub-jobs of the record
  if (wish == wishes_.end()) return false;
  if (item.route() == handler::Route::work && outcome.cause != handler::Cause::withheld)
    note_failure(item, outcome);
  give_up_ordered(item, wish->second);
  log_.skipped(item);
  return true;
}

void Attempts::tick(TimePoint now, bool ends) {
  log_.more_letters(now, ends);
  if (wishes_.empty()) return;
  std::erase_if(wishes_, [&](const auto& wish) { return !ledger_.is_incomplete(wish.first); });
}

bool Attempts::is_suspect(const handler::Item& item) const {
  return item.suspect || (item.failures && downstream_.is_suspect(item.failures->blame));
}

bool Attempts::only_suspects() {
  if (downstream_.closed()) return false;
  const auto outages = downstream_.outages();
  if (std::exchange(outages_, outages) != outages)
    waiting_.acquit([this](const handler::Item& item) { return is_suspect(item); });
  return waiting_.only_suspects();
}

void Attempts::see_suspects(Suspects::Seen& seen) {
  if (retry_step_ != nullptr && retry_step_->delayed()) return found_.clear();  // headers say so
  const auto see = [&](Sequence sequence, bool suspect) {
    if (!ledger_.is_incomplete(sequence)) return;
    auto& found = seen[ledger_.offset_of(sequence)];
    found = found || suspect;
  };
  for (const auto sequence : std::exchange(found_, {})) see(sequence, true);
  waiting_.each([&](const handler::Item& item) {
    if (item.failures) see(item.sequence, is_suspect(item));
  });
  for (const auto& [sequence, blame] : failed_in_drain_) see(sequence, downstream_.is_suspect(blame));
}

bool Attempts::begins(handler::Item& item, TimePoint now) {
  // A record that is undecided may go on, to another attempt or to the topic of its new route,
  // or wait.
  if (item.failures && item.failures->undecided) {
    const auto delay =
        follow(item, downstream_.reconsider(item.failures->blame, rules_for(item), now, random()));
    if (delay && item.failures->undecided) {
      wait(std::move(item), now + *delay);
      return false;
    }
  }
  if (item.route() == handler::Route::work) give_back_attempts(item);
  return true;
}

/// An outage may become known only after the record's attempt was counted.
void Attempts::give_back_attempts(handler::Item& item) {
  if (!item.failures) return;
  auto& blame = item.failures->blame;
  const auto counted = blame.counted();
  if (counted == 0) return;
  downstream_.give_back(blame);
  item.attempt -= counted - blame.counted();
}

void Attempts::wait(handler::Item item, TimePoint due) {
  item.record.detach();  // a long wait must not pin the fetch buffer
  item.state = handler::ItemState::unanswered;
  bytes_ += memory_of(item);
  const bool suspect = item.route() == handler::Route::work && is_suspect(item);
  waiting_.push(due, std::move(item), suspect);
}

/// The breaker did not let the record begin.
void Attempts::withhold(handler::Item item) {
  item.record.detach();
  item.state = handler::ItemState::unanswered;
  bytes_ += memory_of(item);
  waiting_.withhold(std::move(item));
}

std::vector<handler::Item> Attempts::clear() {
  bytes_ = 0;
  return waiting_.clear();
}

void Attempts::start_over() {
  clear();
  wishes_.clear();
  found_.clear();
  failed_in_drain_.clear();
}

}  // namespace laneway::lane
