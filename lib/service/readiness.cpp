#include "service/readiness.h"

#include <algorithm>

namespace laneway::service {
namespace {

std::string seconds_text(Duration duration) {
  return std::to_string(duration_cast<seconds>(duration).count()) + " s";
}

Reason about(const LaneFacts& lane, std::string code, const std::string& text) {
  std::string all = name_of(lane.view) + ": " + text + "; it is " + lane::name_of(lane.view.state);
  if (!lane.detail.held_by.empty()) all += " (" + lane.detail.held_by + ')';
  if (lane.detail.oldest) all += "; its oldest record is " + describe(*lane.detail.oldest);
  if (!lane.detail.source_error.empty()) all += "; it cannot be read: " + lane.detail.source_error;
  return {std::move(code), std::move(all), lane.view.topic, lane.view.partition};
}

/// Held by what does not pass by working on. A window that is full of records that wait for their keys moves
/// on with each that is done: then its oldest record is never old.
bool held_by_trouble(const LaneView& lane, Duration limit) {
  using lane::Hold;
  const bool window = lane.held_by(Hold::window_full) && lane.oldest_age >= limit;
  const bool retries = lane.held_by(Hold::retries_full) && lane.retry_delay == Duration::zero();
  return window || lane.held_by(Hold::map_full) || retries;
}

void judge_lane(const LaneFacts& lane, const Facts& facts, const ReadinessLimits& limits,
                std::vector<Reason>& reasons) {
  const auto& view = lane.view;
  if (view.stuck > 0)
    reasons.push_back(
        about(lane, "stuck",
              std::to_string(view.stuck) + " worker(s) stuck: the handler ignores that its time is over"));
  if (!view.at_work() || view.paused_by_hand()) return;
  if (lane.detail.source_failing >= limits.unreadable)
    return reasons.push_back(
        about(lane, "unreadable", "unreadable for " + seconds_text(lane.detail.source_failing)));
  if (!facts.breaker.empty() && view.held_by(lane::Hold::breaker_open)) return;  // that one is told
  // Before a record of a retry topic is due, nothing of it can be done.
  const auto limit = limits.stall + view.retry_delay;
  if (lane.without_progress >= limit && view.lag > 0)
    reasons.push_back(about(lane, "stalled",
                            "no progress for " + seconds_text(lane.without_progress) + " with a lag of " +
                                std::to_string(view.lag)));
  else if (lane.held >= limit && held_by_trouble(view, limit))
    reasons.push_back(about(lane, "held", "held for " + seconds_text(lane.held)));
}

void judge_members(const Facts& facts, const ReadinessLimits& limits, std::vector<Reason>& reasons) {
  for (std::size_t i = 0; i < facts.members.size(); ++i) {
    const auto& member = facts.members[i];
    const std::string who = "member " + std::to_string(i + 1) + ": ";
    if (member.no_broker >= limits.no_broker)
      reasons.push_back({"no_broker",
                         who + "no broker has been connected for " + seconds_text(member.no_broker) +
                             (member.broker_error.empty() ? "" : ": " + member.broker_error),
                         "", -1});
    else if (!member.assigned)
      reasons.push_back({"unassigned", who + "the group has not given it its partitions yet", "", -1});
    else if (member.joining >= limits.rebalance)
      reasons.push_back({"rebalancing",
                         who + "the group has been rebalancing for " + seconds_text(member.joining), "", -1});
  }
}

}  // namespace

std::string describe(const lane::OldestRecord& oldest) {
  std::string text = std::to_string(oldest.offset) + ", " + seconds_text(oldest.age) + " old";
  using Phase = lane::OldestRecord::Phase;
  if (oldest.phase == Phase::at_work) text += ", at work";
  if (oldest.phase == Phase::queued) text += ", not at work";
  if (oldest.attempts > 0) text += ", attempt " + std::to_string(oldest.attempts);
  if (!oldest.error.empty()) text += ": " + oldest.error;
  return text;
}

Readiness judge(const Facts& facts, const ReadinessLimits& limits) {
  std::vector<Reason> reasons;
  if (facts.stopping) return {{{"stopping", "it is stopping", "", -1}}};
  if (!facts.starting.empty()) return {{{"starting", facts.starting, "", -1}}};
  judge_members(facts, limits, reasons);
  if (!facts.breaker.empty()) reasons.push_back({"breaker_open", facts.breaker, "", -1});
  for (const auto& lane : facts.lanes) judge_lane(lane, facts, limits, reasons);
  return {std::move(reasons)};
}

}  // namespace laneway::service
