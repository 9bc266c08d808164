#include "app/plan/sizing.h"

#include <algorithm>
#include <cmath>

#include "config/units.h"

namespace laneway::app::plan {
namespace {

std::uint64_t whole(double number) { return static_cast<std::uint64_t>(std::ceil(number - 1e-9)); }

std::uint64_t divided_up(std::uint64_t number, std::uint64_t by) { return (number + by - 1) / by; }

Duration times(Duration duration, double factor) {
  return duration_cast<Duration>(std::chrono::duration<double, Duration::period>(duration) * factor);
}

std::string in_ms(Duration duration) {
  return config::print_duration(std::chrono::ceil<milliseconds>(duration));
}

void size_workers(const Load& load, Sizing& sizing) {
  sizing.at_work = load.rate * to_seconds(load.service_time);
  sizing.wanted = std::max<std::uint64_t>(whole(sizing.at_work / utilisation), 1);
  sizing.workers = divided_up(sizing.wanted, load.partitions);
  sizing.most_partitions = divided_up(load.partitions, load.instances);
  sizing.connections = sizing.workers * load.partitions;
  sizing.capacity = static_cast<double>(sizing.connections) / to_seconds(load.service_time);
}

void size_queue(const Load& load, Sizing& sizing) {
  const std::uint64_t arriving = whole(load.rate / static_cast<double>(load.partitions) * to_seconds(burst));
  sizing.queue = std::max(arriving, 2 * sizing.workers);
  const double turns = static_cast<double>(sizing.queue) / static_cast<double>(sizing.workers);
  sizing.queue_wait = times(load.service_time, turns);
  sizing.drain = times(load.service_time, turns + 1);
  if (load.backlog > 0 && sizing.capacity > load.rate)
    sizing.backlog = times(seconds(1), static_cast<double>(load.backlog) / (sizing.capacity - load.rate));
}

void size_processors(const Load& load, Sizing& sizing) {
  if (!load.cpu || *load.cpu == Duration::zero()) return;
  sizing.cores = load.rate * to_seconds(*load.cpu);
  sizing.instances =
      std::max<std::uint64_t>(whole(*sizing.cores / utilisation / static_cast<double>(load.cores)), 1);
  if (*sizing.instances > load.instances)
    sizing.warnings.push_back("the processors are too few: " + std::to_string(*sizing.instances) +
                              " instances of " + std::to_string(load.cores) + " cores are needed, not " +
                              std::to_string(load.instances));
  if (*sizing.instances > load.partitions)
    sizing.warnings.push_back("so many instances need as many partitions at least: " +
                              std::to_string(*sizing.instances) + ", not " + std::to_string(load.partitions));
}

void warn_of_shares(const Load& load, Sizing& sizing) {
  if (load.instances > load.partitions)
    sizing.warnings.push_back(std::to_string(load.instances - load.partitions) +
                              " of the instances would have no partition: they only stand by");
  else if (load.partitions % load.instances != 0)
    sizing.warnings.push_back("partitions do not come out even: some instances have " +
                              std::to_string(sizing.most_partitions) + ", others " +
                              std::to_string(load.partitions / load.instances));
  if (sizing.drain > load.drain)
    sizing.warnings.push_back("a full lane drains for " + in_ms(sizing.drain) +
                              ", longer than lanes.drain (" + config::print_duration(load.drain) +
                              "): raise it, and the time-out of whoever stops "
                              "the service above it, or queued records go back to the topic");
}

}  // namespace

Sizing size(const Load& load) {
  Sizing sizing;
  size_workers(load, sizing);
  size_queue(load, sizing);
  size_processors(load, sizing);
  warn_of_shares(load, sizing);
  return sizing;
}

}  // namespace laneway::app::plan
