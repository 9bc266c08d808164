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
/// For a pool without a rate of its own.
constexpr std::uint64_t assumed_rate = 100;

/// A duration to read: whole seconds, or milliseconds below one second.
std::string after(std::uint64_t records, std::uint64_t rate) {
  const auto ms = milliseconds(records * 1000 / rate);
  return config::print_duration(ms < seconds(1) ? ms : std::chrono::floor<seconds>(ms));
}

/// A subscriber, or the pool itself, in a partition with room for so many records.
std::string of_pool(const Config& config, const PoolSettings& pool, std::uint64_t room) {
  const auto& each = pool.each;
  const bool subscribers = each.by.enabled();
  const auto limit = subscribers ? each.rate.records : pool.rate.records;
  const auto rate = limit > 0 ? limit : assumed_rate;
  auto text = (pool.named() ? "    " + pool.name + ": " : "    ") + "if " +
              (subscribers ? "a subscriber" : "the pool") + " is out, and " + counted(rate, "record") +
              "/s come for it, ";
  if (!parks(config)) return text + "the room is used up in " + after(room, rate) + '\n';
  const auto park_after_ms =
      static_cast<std::uint64_t>(duration_cast<milliseconds>(config.lanes.park_after).count());
  const auto waiting = rate * park_after_ms / 1000;
  text += waiting <= room / 2
              ? counted(waiting, "record") + " of it wait when the first one leaves"
              : "half of the room is used up after " + after(room / 2, rate) + ", and its records leave then";
  if (subscribers && each.longest_wait > Duration::zero())
    text +=
        "; up to " + counted(rate * static_cast<std::uint64_t>(each.longest_wait / seconds(1)), "record") +
        " of it wait in the retry topics before the first one becomes a dead letter (each.longest_wait: " +
        config::print_duration(each.longest_wait) + ")";
  return text + '\n';
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

std::string parking_forecast(const Config& config, std::uint64_t lane_bytes) {
  if (!has_neighbours(config)) return "";
  const auto by_memory = lane_bytes / (record_bytes + lane::record_overhead);
  const auto room = std::min<std::uint64_t>(by_memory, config.lanes.max_incomplete);
  auto text = rule_of(config) + "    room of a partition: about " + std::to_string(room) + " records of " +
              config::print_size(record_bytes) + " (" +
              (room == by_memory ? "its share of lanes.memory" : "lanes.max_incomplete") + ")\n";
  for (const auto& pool : stages_of(config))
    if (has_neighbours(config, pool)) text += of_pool(config, pool, room);
  return text;
}

}  // namespace laneway::app
