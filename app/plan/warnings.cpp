// Why a plan cannot work, or has a catch.
#include <algorithm>

#include "app/plan/numbers.h"
#include "app/plan/sizing.h"
#include "config/units.h"

namespace laneway::plan {
namespace {

using Warnings = std::vector<std::string>;

constexpr int many_turns = 4;  // of the workers to empty a queue: a longer queue only makes records wait

void about_workers(const Load& load, const Sizing& sizing, Warnings& warnings) {
  if (sizing.workers >= sizing.wanted_each) return;
  const auto partitions = (sizing.wanted + sizing.workers - 1) / sizing.workers;
  const std::string what =
      sizing.capacity < load.rate ? "the plan cannot work" : "the plan has little headroom";
  warnings.push_back(what + ": lanes.workers can be at most " + number(sizing.workers) + ", so " +
                     number(sizing.capacity) + " records/s are finished and " + number(load.rate) +
                     " arrive; " + number(partitions) +
                     " partitions, or a shorter service time, would be enough");
}

void about_memory(const Sizing& sizing, Warnings& warnings) {
  if (static_cast<double>(sizing.memory) >= sizing.memory_needed) return;
  warnings.push_back("there is too little memory for so many records: lanes.memory can be at most " +
                     config::print_size(sizing.memory) +
                     ", so lanes would be held before their queues are full");
}

void about_processors(const Load& load, const Sizing& sizing, Warnings& warnings) {
  if (!sizing.instances) return;
  if (*sizing.instances > load.instances)
    warnings.push_back("there are too few processors: " + std::to_string(*sizing.instances) +
                       " instances of " + std::to_string(load.cores) + " cores are needed, not " +
                       std::to_string(load.instances));
  if (*sizing.instances > load.partitions)
    warnings.push_back(std::to_string(*sizing.instances) + " instances need at least " +
                       std::to_string(*sizing.instances) + " partitions; the topic has " +
                       std::to_string(load.partitions));
}

void about_shares(const Load& load, const Sizing& sizing, Warnings& warnings) {
  if (load.instances > load.partitions)
    warnings.push_back(std::to_string(load.instances - load.partitions) +
                       " of the instances would have no partition and stand idle");
  else if (load.partitions % load.instances != 0)
    warnings.push_back("the partitions cannot be divided evenly: some instances have " +
                       std::to_string(sizing.most_partitions) + ", others " +
                       std::to_string(load.partitions / load.instances));
}

/// Judges the queue of the running service, or the recommended queue if nothing was measured.
void about_queue(const Load& load, const Sizing& sizing, Warnings& warnings) {
  const auto judged = load.running.value_or(Running{sizing.workers, sizing.queue});
  const auto wait = from_seconds(to_seconds(load.service_time) * static_cast<double>(judged.queue) /
                                 static_cast<double>(judged.workers));
  const bool too_long = wait > load.drain;
  if (!too_long && wait <= many_turns * std::max(load.service_time, burst)) return;
  std::string text = "the queue adds latency without capacity: the last of " + number(judged.queue) +
                     " queued records waits " + about(wait) + " for " + number(judged.workers) + " workers";
  if (too_long) text += ", longer than lanes.drain (" + about(load.drain) + ")";
  if (judged.queue > sizing.queue) text += "; a queue of " + number(sizing.queue) + " is enough";
  warnings.push_back(text);
}

void about_drain(const Load& load, const Sizing& sizing, Warnings& warnings) {
  if (sizing.drain <= load.drain) return;
  warnings.push_back("a full lane needs " + about(sizing.drain) + " to drain, longer than lanes.drain (" +
                     about(load.drain) +
                     "): raise lanes.drain, and the time-out of the supervisor that stops the service, or "
                     "queued records stay in the topic for the next start");
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
