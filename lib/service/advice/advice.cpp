#include "service/advice/advice.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "config/units.h"
#include "service/sizing.h"

namespace laneway::service {
namespace {

using lane::Hold;

constexpr Duration backlog_patience = std::chrono::hours(1);
constexpr double often = 0.5;             // of the time: a limit that justifies a change
constexpr double sometimes = 0.1;         // of the time: an outage that makes the other figures meaningless
constexpr double most_processors = 0.85;  // of the processors: beyond, the processors are the limit
constexpr double most_connections = 0.95;
constexpr double most_step = 4;  // times as many at once; then lanes are measured again

/// What limits a lane, in the order in which the advice is printed.
enum class Limit : std::uint8_t {
  outage,
  failures,
  processors,
  connections,
  workers,
  one_by_one,
  few_keys,
  memory,
  oldest_record,
  rate,
  none
};

/// There is more work than a moment's, and it will not be finished soon; or no worker is free.
bool falls_behind(const LaneUsage& lane, const AdviceSettings& settings) {
  const auto backlog = lane.lag - std::int64_t{settings.workers} - std::int64_t{settings.queue};
  if (backlog <= 0) return lane.all_busy >= often;  // caught up, without a free worker
  return -lane.lag_growth * to_seconds(backlog_patience) < static_cast<double>(backlog);
}

Limit limit_of_idle(const LaneUsage& lane, const config::LaneSettings& lanes) {
  if (lane.held_by(Hold::rate_limited) >= often) return Limit::rate;
  const bool full = lane.held_by(Hold::window_full) >= often || lane.held_by(Hold::map_full) >= often;
  const bool memory = lane.held_by(Hold::memory_full) >= often;
  // behind running records
  if (lanes.order == config::Order::key && (full || memory)) return Limit::few_keys;
  if (memory) return Limit::memory;
  return full ? Limit::oldest_record : Limit::none;
}

Limit limit_of(const LaneUsage& lane, const Usage& usage, const AdviceSettings& settings) {
  if (lane.span < settings.least_span || lane.held_by(Hold::suspended) >= sometimes) return Limit::none;
  // After an outage there is nothing to fix, and the figures of the outage say nothing about the lane.
  if (lane.held_by(Hold::breaker_open) >= sometimes) return settings.outage ? Limit::outage : Limit::none;
  if (lane.held_by(Hold::retries_full) >= sometimes) return Limit::failures;
  if (lane.rate <= 0 || !falls_behind(lane, settings)) return Limit::none;
  if (settings.lanes.order == config::Order::partition)
    return lane.used >= utilisation ? Limit::one_by_one : limit_of_idle(lane, settings.lanes);
  if (lane.all_busy < often) return lane.idle >= often ? limit_of_idle(lane, settings.lanes) : Limit::none;
  if (usage.cores >= most_processors * settings.cores) return Limit::processors;
  double at_work = 0;
  for (const auto& each : usage.lanes) at_work += each.used;
  const auto connections = static_cast<double>(settings.connections);
  if (connections > 0 && at_work >= most_connections * connections) return Limit::connections;
  return settings.pools || settings.workers < most_of("lanes.workers") ? Limit::workers : Limit::none;
}

/// The lanes with the same limit, the worst first.
using Group = std::vector<const LaneUsage*>;

std::string percent(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

std::string one_digit(double value) {
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%.1f", value);
  return digits;
}

std::string time_of(Duration span) {
  const auto whole = std::chrono::round<std::chrono::minutes>(span).count();
  return whole <= 1 ? "the last minute" : "the last " + std::to_string(whole) + " min";
}

std::string lanes_of(const Group& group) {
  std::string text = group.front()->name;
  if (group.size() > 1) text += " and " + std::to_string(group.size() - 1) + " more";
  return text;
}

std::string arrow(std::uint64_t from, std::uint64_t to) {
  return ' ' + std::to_string(from) + " -> " + std::to_string(to);
}

/// How many times as many running records the arriving records need.
double growth_of(const LaneUsage& lane) { return 1 + std::max(lane.lag_growth, 0.0) / lane.rate; }

/// "lanes.workers 8 -> 12"
std::string raised(const std::string& setting, std::uint64_t from, double wanted) {
  const auto capped = rounded_up(std::min(wanted, most_step * static_cast<double>(from)));
  return setting + arrow(from, std::clamp(capped, from + 1, std::max(most_of(setting), from + 1)));
}

std::string workers_text(const Group& group, const AdviceSettings& settings) {
  double wanted = 0;
  for (const auto* lane : group) wanted = std::max(wanted, with_headroom(lane->used * growth_of(*lane)));
  const auto what = settings.pools ? "more workers in the full pools (`laneway status` shows them)"
                                   : raised("lanes.workers", settings.workers, wanted);
  return what + ": all busy " + percent(group.front()->all_busy) + " of " + time_of(group.front()->span) +
         " (" + lanes_of(group) + ")";
}

std::string connections_text(const Usage& usage, const AdviceSettings& settings) {
  double wanted = 0;
  for (const auto& lane : usage.lanes)
    wanted += lane.rate > 0 ? with_headroom(lane.used * growth_of(lane)) : lane.used;
  return raised("handler.http.connections", settings.connections, wanted) + ": all in use in " +
         time_of(usage.span) + "; more workers would only wait for connections";
}

std::string processors_text(const Usage& usage, const AdviceSettings& settings) {
  const std::string what =
      usage.lanes.size() > 1 ? "more instances or cores" : "more cores, or more partitions and instances";
  return what + ": " + one_digit(usage.cores) + " of " + one_digit(settings.cores) + " cores busy in " +
         time_of(usage.span) + "; more workers would not help";
}

std::string held_text(const Group& group, Hold reason) {
  return "held " + lanes_of(group) + " for " + percent(group.front()->held_by(reason)) + " of " +
         time_of(group.front()->span);
}

std::string text_of(Limit limit, const Group& group, const Usage& usage, const AdviceSettings& settings) {
  const auto& lanes = settings.lanes;
  switch (limit) {
    case Limit::outage:
      return "fix the downstream: the open breaker " + held_text(group, Hold::breaker_open) +
             "; more workers would not help";
    case Limit::failures:
      return "find out why records fail: the records that wait for their next attempt (retry.max_waiting) " +
             held_text(group, Hold::retries_full) + "; more workers would not help";
    case Limit::processors:
      return processors_text(usage, settings);
    case Limit::connections:
      return connections_text(usage, settings);
    case Limit::workers:
      return workers_text(group, settings);
    case Limit::one_by_one:
      return "more partitions, or lanes.order key: one record at a time is not enough for " +
             lanes_of(group) + "; more workers would not help";
    case Limit::few_keys:
      return "more partitions, or keys that spread the records more evenly: " + lanes_of(group) +
             " waits for a few keys while workers are idle";
    case Limit::memory:
      return "lanes.memory " + config::print_size(lanes.memory) + " -> " +
             config::print_size(2 * lanes.memory) + ": the limit " + held_text(group, Hold::memory_full) +
             " while workers were idle";
    case Limit::oldest_record:
      return "find out why the oldest record is not finished, or raise lanes.max_incomplete: the limit " +
             held_text(group, Hold::window_full) + " while workers were idle";
    case Limit::rate:
      if (settings.keeps_pace)
        return "let the downstream accept more calls: its answers (HTTP 429, too many requests) " +
               held_text(group, Hold::rate_limited) + "; no setting of laneway helps";
      return "raise rate or lanes.rate if the downstream can take more: the limit " +
             held_text(group, Hold::rate_limited);
    case Limit::none:
      break;
  }
  return "";
}

/// Little's law: the records in the lane, divided by their rate.
Duration drain_of(const LaneUsage& lane, Duration least_span) {
  if (lane.span < least_span || lane.rate <= 0 || lane.all_busy < often) return Duration::zero();
  return from_seconds(lane.outstanding / lane.rate);
}

void advise_on_drain(const Usage& usage, const AdviceSettings& settings, std::vector<std::string>& advice) {
  if (settings.lanes.drain_queued != config::DrainQueued::finish || usage.lanes.empty()) return;
  const auto drain = [&](const LaneUsage& lane) { return drain_of(lane, settings.least_span); };
  const auto& worst = *std::max_element(usage.lanes.begin(), usage.lanes.end(),
                                        [&](const auto& a, const auto& b) { return drain(a) < drain(b); });
  const auto needed = drain(worst);
  if (needed <= settings.lanes.drain) return;
  const auto fits = worst.rate * to_seconds(settings.lanes.drain) - settings.workers;
  std::string text = "lanes.drain " + config::print_duration(settings.lanes.drain) + " -> " +
                     config::print_duration(std::chrono::ceil<seconds>(needed + needed / 4));
  if (settings.pools)
    text += ", or shorter queues of the pools";
  else if (fits >= 1)
    text += ", or lanes.queue" + arrow(settings.queue, static_cast<std::uint64_t>(fits));
  advice.push_back(text + ": the fetched records of " + worst.name + " need " +
                   config::print_duration(std::chrono::ceil<seconds>(needed)) +
                   "; a stop gives back the records that do not fit");
}

}  // namespace

std::vector<std::string> advise(const Usage& usage, const AdviceSettings& settings) {
  std::vector<std::string> advice;
  if (usage.span < settings.least_span) return advice;
  std::map<Limit, Group> groups;
  for (const auto& lane : usage.lanes) groups[limit_of(lane, usage, settings)].push_back(&lane);
  groups.erase(Limit::none);
  for (auto& [limit, group] : groups) {
    std::stable_sort(group.begin(), group.end(),
                     [](const auto* a, const auto* b) { return a->all_busy > b->all_busy; });
    advice.push_back(text_of(limit, group, usage, settings));
  }
  advise_on_drain(usage, settings, advice);
  if (usage.idle_members > 0)
    advice.push_back(
        "fewer consumers or instances, or more partitions: " + std::to_string(usage.idle_members) + " of " +
        std::to_string(usage.members) + " members here had no partition in " + time_of(usage.span));
  return advice;
}

}  // namespace laneway::service
