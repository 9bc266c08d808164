// Where a plan cannot work, or not as it looks.
#include <algorithm>

#include "app/plan/numbers.h"
#include "app/plan/sizing.h"
#include "config/units.h"

namespace laneway::plan {
namespace {

using Warnings = std::vector<std::string>;

constexpr int many_turns = 4;  // of the workers, until a queue is worked off: it bridges no burst, it waits

std::string in_ms(Duration duration) {
  return config::print_duration(std::chrono::ceil<milliseconds>(duration));
}

void about_workers(const Load& load, const Sizing& sizing, Warnings& warnings) {
  if (sizing.workers == sizing.wanted_each) return;
  const auto partitions = (sizing.wanted + sizing.workers - 1) / sizing.workers;
  const std::string what =
      sizing.capacity < load.rate ? "the plan cannot work" : "the plan has little headroom";
  warnings.push_back(what + ": lanes.workers is " + number(sizing.workers) + " at most, so " +
                     number(sizing.capacity) + " records/s are done and " + number(load.rate) + " come; " +
                     number(partitions) + " partitions would do, or a shorter service time");
}

void about_memory(const Sizing& sizing, Warnings& warnings) {
  if (static_cast<double>(sizing.memory) >= sizing.memory_needed) return;
  warnings.push_back("the memory is too little for so many records: lanes.memory is " +
                     config::print_size(sizing.memory) +
                     " at most; lanes would hold before their queues are full");
}

void about_processors(const Load& load, const Sizing& sizing, Warnings& warnings) {
  if (!sizing.instances) return;
  if (*sizing.instances > load.instances)
    warnings.push_back("the processors are too few: " + std::to_string(*sizing.instances) + " instances of " +
                       std::to_string(load.cores) + " cores are needed, not " +
                       std::to_string(load.instances));
  if (*sizing.instances > load.partitions)
    warnings.push_back("so many instances need as many partitions at least: " +
                       std::to_string(*sizing.instances) + ", not " + std::to_string(load.partitions));
}

void about_shares(const Load& load, const Sizing& sizing, Warnings& warnings) {
  if (load.instances > load.partitions)
    warnings.push_back(std::to_string(load.instances - load.partitions) +
                       " of the instances would have no partition: they only stand by");
  else if (load.partitions % load.instances != 0)
    warnings.push_back("partitions do not come out even: some instances have " +
                       std::to_string(sizing.most_partitions) + ", others " +
                       std::to_string(load.partitions / load.instances));
}

/// The queue of a service that runs is judged as it is, else the one that is recommended.
void about_queue(const Load& load, const Sizing& sizing, Warnings& warnings) {
  const auto judged = load.running.value_or(Running{sizing.workers, sizing.queue});
  const auto wait = duration_cast<Duration>(
      std::chrono::duration<double>(to_seconds(load.service_time) * static_cast<double>(judged.queue) /
                                    static_cast<double>(judged.workers)));
  const bool too_long = wait > load.drain;
  if (!too_long && wait <= many_turns * std::max(load.service_time, burst)) return;
  std::string text = "the queue is latency and not capacity: the last of " + number(judged.queue) +
                     " records waits " + in_ms(wait) + " for " + number(judged.workers) + " workers";
  if (too_long) text += ", longer than lanes.drain (" + config::print_duration(load.drain) + ")";
  if (judged.queue > sizing.queue) text += "; " + number(sizing.queue) + " are enough";
  warnings.push_back(text);
}

void about_drain(const Load& load, const Sizing& sizing, Warnings& warnings) {
  if (sizing.drain <= load.drain) return;
  warnings.push_back("a full lane drains for " + in_ms(sizing.drain) + ", longer than lanes.drain (" +
                     config::print_duration(load.drain) +
                     "): raise it, and the time-out of whoever stops "
                     "the service above it, or queued records go back to the topic");
}

}  // namespace

std::vector<std::string> warnings_of(const Load& load, const Sizing& sizing) {
  Warnings warnings;
  about_workers(load, sizing, warnings);
  about_memory(sizing, warnings);
  about_processors(load, sizing, warnings);
  about_shares(load, sizing, warnings);
  about_queue(load, sizing, warnings);
  about_drain(load, sizing, warnings);
  return warnings;
}

}  // namespace laneway::plan
