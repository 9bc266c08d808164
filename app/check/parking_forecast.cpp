#include "app/check/parking_forecast.h"

#include <algorithm>
#include <vector>

#include "config/pools/parking.h"
#include "config/pools/pool_scope.h"
#include "config/text.h"
#include "config/units.h"
#include "lane/shared/memory_plan.h"

namespace laneway::app {
namespace {

using config::Config;
using config::counted;
using config::PoolSettings;

constexpr std::uint64_t record_bytes = 1024;
/// Of a partition, where no setting limits how many records a second come.
constexpr std::uint64_t assumed_rate = 100;

/// A duration to read: whole seconds, or milliseconds below one second.
std::string text_of(Duration time) {
  const auto ms = std::chrono::floor<milliseconds>(time);
  return config::print_duration(ms < seconds(1) ? ms : std::chrono::floor<seconds>(ms));
}

Duration time_of(std::uint64_t records, std::uint64_t rate) { return milliseconds(records * 1000 / rate); }

/// The room of the lane counts all of its records, so it does not matter how many are for the one that is
/// out.
std::string of_pool(const Config& config, const PoolSettings& pool, const WhenOut& out) {
  const auto& each = pool.each;
  const bool subscribers = each.by.enabled();
  const bool parked = parks(config);
  auto text = (pool.named() ? "    " + pool.name + ": " : "    ") + "if " + counted(out.rate, "record") +
              "/s of the partition come (" + (out.assumed ? "assumed" : "lanes.rate") + "), and " +
              (subscribers ? "a subscriber" : "the pool") + " is out, " +
              (parked ? "its first record leaves" : "the partition stops") + " after " + text_of(out.after) +
              ", when " + counted(out.records, "record") + " have come since, whoever they are for";
  if (out.memory_after < out.after)
    text += ", or after " + text_of(out.memory_after) + ", if all are of " +
            config::print_size(record_bytes) + " and for " + (subscribers ? "that subscriber" : "that pool");
  if (!parked || !subscribers || each.longest_wait == Duration::zero()) return text + '\n';
  const auto longest = config::print_duration(each.longest_wait);
  if (each.rate.records == 0)
    return text + "; what has waited for " + longest + " becomes a dead letter (each.longest_wait)\n";
  const auto in_that_time = each.rate.records * static_cast<std::uint64_t>(each.longest_wait / seconds(1));
  return text + "; of a subscriber with " + counted(each.rate.records, "record") +
         "/s in all partitions (each.rate), up to " + counted(in_that_time, "record") +
         " wait in the retry topics before the first one becomes a dead letter (each.longest_wait: " +
         longest + ")\n";
}

std::string rule_of(const Config& config) {
  if (const auto why_not = not_parked_because(config); !why_not.empty())
    return "  parking: none, because " + why_not +
           "; a pool or subscriber that is out stops the others of its partition when the room of the "
           "partition "
           "is used up, and a restart repeats what they have done\n";
  std::vector<std::string> topics;
  for (const auto& delay : retry_delays(config)) topics.push_back(delay.topic_of("{topic}"));
  return "  parking: a record that waits for " + config::print_duration(config.lanes.park_after) +
         " for a pool or subscriber that is out, or cannot keep up, while others go on, waits in " +
         config::join(topics, ", then ") + " again and again, and uses up no attempt\n";
}

}  // namespace

WhenOut when_out(const Config& config, const PoolSettings& pool, std::uint64_t lane_bytes) {
  const bool parked = parks(config);
  const bool split = pool.each.by.kind == config::Selector::Kind::part;
  // Half of the room is for what waits, and the other half for the others.
  const std::uint64_t part = parked ? 2 : 1;
  WhenOut out{};
  out.assumed = config.lanes.rate.records == 0;
  out.rate = out.assumed ? assumed_rate : config.lanes.rate.records;
  out.records = config.lanes.max_incomplete / part;
  out.after = time_of(out.records, out.rate);
  if (parked && config.lanes.park_after < out.after) {
    out.after = config.lanes.park_after;
    out.records = out.rate * static_cast<std::uint64_t>(out.after / milliseconds(1)) / 1000;
  }
  const auto memory_of_record = record_bytes + (split ? 2 : 1) * lane::record_overhead;
  out.memory_after = time_of(lane_bytes / part / memory_of_record, out.rate);
  return out;
}

std::string parking_forecast(const Config& config, std::uint64_t lane_bytes) {
  if (!has_neighbours(config)) return "";
  const auto by_memory = lane_bytes / (record_bytes + lane::record_overhead);
  auto text = rule_of(config) + "    room of a partition: " + counted(config.lanes.max_incomplete, "record") +
              " from the oldest unfinished one to the newest, finished ones and those of others too "
              "(lanes.max_incomplete), and about " +
              counted(by_memory, "unfinished record") + " of " + config::print_size(record_bytes) +
              " (its share of lanes.memory)\n";
  for (const auto& pool : stages_of(config))
    if (has_neighbours(config, pool)) text += of_pool(config, pool, when_out(config, pool, lane_bytes));
  return text;
}

}  // namespace laneway::app
