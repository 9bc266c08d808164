#include "service/ready/readiness.h"

#include <algorithm>

#include "config/text.h"

namespace laneway::service {
namespace {

std::string seconds_text(Duration duration) {
  return std::to_string(duration_cast<seconds>(duration).count()) + " s";
}

/// `text` goes on after the lane's name.
Reason about(const LaneFacts& lane, ReasonCode code, const std::string& text) {
  std::string all = name_of(lane.view) + ' ' + text + "; state " + lane.view.state_in_words();
  if (!lane.detail.held_by.empty()) all += " (" + lane.detail.held_by + ')';
  if (lane.detail.oldest)
    all += "; oldest record " + name_of(lane.view) + ':' + describe(*lane.detail.oldest);
  if (!lane.detail.source_error.empty()) all += "; last error: " + lane.detail.source_error;
  return {code, std::move(all), lane.view.topic, lane.view.partition};
}

/// Why a lane with lag does not go on, and what finds out more.
std::string cause_of_stall(const LaneFacts& lane) {
  const auto& offset = lane.detail.open_transaction;
  if (offset < 0) return "";
  return ": it waits at offset " + std::to_string(offset) +
         " for a transaction of another producer, which is still open; kafka-transactions.sh "
         "--bootstrap-server HOST:PORT describe-producers --topic " +
         lane.view.topic + " --partition " + std::to_string(lane.view.partition) + " names the producer";
}

/// Whether a reason holds the lane that does not pass by working on. A window full of records that wait for
/// their keys moves on with each finished record, so its oldest record is never old.
bool held_by_trouble(const LaneView& lane, Duration limit) {
  using lane::Hold;
  const bool window = lane.held_by(Hold::window_full) && lane.oldest_age >= limit;
  const bool retries = lane.held_by(Hold::retries_full) && lane.retry_delay == Duration::zero();
  return window || lane.held_by(Hold::map_full) || retries;
}

/// The partition has never answered since its lane began.
std::string unheard(const LaneFacts& lane, const Facts& facts) {
  const auto member = lane.view.member;
  const bool throttled = member < facts.members.size() && facts.members[member].throttled;
  return "has heard nothing of its partition for " + seconds_text(lane.without_progress) +
         ", neither records nor where the log ends, so its lag is not known" +
         (throttled ? "; the brokers delay this client because of a quota" : "");
}

void judge_lane(const LaneFacts& lane, const Facts& facts, const ReadinessLimits& limits,
                std::vector<Reason>& reasons) {
  const auto& view = lane.view;
  if (view.stuck > 0)
    reasons.push_back(
        about(lane, ReasonCode::stuck,
              "has " + config::counted(view.stuck, "stuck worker") + ": the handler ignores its timeout"));
  if (!view.at_work() || view.suspended()) return;
  if (lane.detail.source_failing >= limits.unreadable)
    return reasons.push_back(about(lane, ReasonCode::unreadable,
                                   "cannot be read for " + seconds_text(lane.detail.source_failing)));
  // the breaker has its own reason
  if (!facts.breakers.empty() && view.held_by(lane::Hold::breaker_open)) return;
  // Before a record of a retry topic is due, nothing can be done with it.
  const auto limit = limits.stall + view.retry_delay;
  if (lane.without_progress >= limit && view.lag < 0)
    reasons.push_back(about(lane, ReasonCode::stalled, unheard(lane, facts)));
  else if (lane.without_progress >= limit && view.lag > 0)
    reasons.push_back(about(lane, ReasonCode::stalled,
                            "has made no progress for " + seconds_text(lane.without_progress) +
                                " with a lag of " + std::to_string(view.lag) + cause_of_stall(lane)));
  else if (lane.held >= limit && held_by_trouble(view, limit))
    reasons.push_back(about(lane, ReasonCode::held, "has been held for " + seconds_text(lane.held)));
}

void judge_members(const Facts& facts, const ReadinessLimits& limits, std::vector<Reason>& reasons) {
  for (std::size_t i = 0; i < facts.members.size(); ++i) {
    const auto& member = facts.members[i];
    const std::string who = "member " + std::to_string(i + 1);
    if (member.no_broker >= limits.no_broker)
      reasons.push_back({ReasonCode::no_broker,
                         who + " has had no connection to a broker for " + seconds_text(member.no_broker) +
                             (member.broker_error.empty() ? "" : ": " + member.broker_error)});
    else if (member.no_coordinator >= limits.no_coordinator)
      reasons.push_back({ReasonCode::no_coordinator,
                         who + " has had no connection to the coordinator of its group for " +
                             seconds_text(member.no_coordinator) + ", although brokers answer"});
    else if (member.without_topics)
      reasons.push_back(
          {ReasonCode::unassigned, who + " has found no topic that the pattern in topics matches"});
    else if (!member.assigned)
      reasons.push_back(
          {ReasonCode::unassigned, who + " has not received its partitions from the group yet"});
    else if (member.awaiting_offsets >= limits.unreadable)
      reasons.push_back({ReasonCode::unreadable, who + " cannot read the committed offsets of " +
                                                     config::counted(member.awaited_offsets, "partition") +
                                                     ", for " + seconds_text(member.awaiting_offsets) +
                                                     "; the log names the error"});
    else if (member.joining >= limits.rebalance)
      reasons.push_back(
          {ReasonCode::rebalancing, who + " has been joining the group for " + seconds_text(member.joining)});
  }
}

}  // namespace

std::string describe(const lane::OldestRecord& oldest) {
  std::string text = std::to_string(oldest.offset) + ", the oldest for " + seconds_text(oldest.age) + ", " +
                     lane::name_of(oldest.phase);
  const bool running = oldest.phase == lane::OldestRecord::Phase::running;
  if (running && oldest.attempt > 0) text += " (attempt " + std::to_string(oldest.attempt) + ')';
  if (!oldest.error.empty())
    text += "; attempt " + std::to_string(oldest.failed_attempt) + " failed: " + oldest.error;
  return text;
}

Readiness judge(const Facts& facts, const ReadinessLimits& limits) {
  std::vector<Reason> reasons;
  if (facts.stopping) return {{{ReasonCode::stopping, "the service is stopping"}}};
  if (!facts.starting.empty()) return {{{ReasonCode::starting, facts.starting}}};
  judge_members(facts, limits, reasons);
  for (const auto& outage : facts.breakers) reasons.push_back({ReasonCode::breaker_open, outage});
  for (const auto& lane : facts.lanes) judge_lane(lane, facts, limits, reasons);
  std::vector<std::string> suspended;
  for (const auto& lane : facts.lanes)
    if (lane.view.suspended()) suspended.push_back(name_of(lane.view));
  return {std::move(reasons), std::move(suspended)};
}

}  // namespace laneway::service
