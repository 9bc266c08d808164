// A plan as text: each number with its arithmetic.
#include <algorithm>
#include <cmath>

#include "app/plan/measure.h"
#include "app/plan/numbers.h"
#include "app/plan/sizing.h"
#include "config/text.h"
#include "config/units.h"
#include "lane/shared/memory_plan.h"
#include "service/sizing.h"

namespace laneway::plan {
namespace {

std::string count(std::uint64_t many, const std::string& noun) {
  return number(many) + ' ' + noun + (many == 1 ? "" : "s");
}

std::string line(const std::string& name, const std::string& text) {
  return "  " + name + std::string(12 - name.size(), ' ') + text + '\n';
}

std::string question(const Load& load) {
  std::string text = number(load.rate) + " records/s of " + number(load.record_bytes) + " bytes, " +
                     about(load.service_time) + " each";
  if (load.cpu) text += ", of which " + about(*load.cpu) + " processor time of laneway";
  return text + "; " + count(load.partitions, "partition") + ", " + count(load.instances, "instance") +
         " of " + count(load.cores, "core") + "\n";
}

std::string workers(const Load& load, const Sizing& sizing) {
  std::string each = number(sizing.wanted_each) + " each";
  if (sizing.workers < sizing.wanted_each) each += ", of which " + number(sizing.workers) + " are allowed";
  if (sizing.keeps_running_workers)
    each += "; the current " + number(sizing.workers) + " are kept (see below)";
  return line("running", number(load.rate) + "/s x " + about(load.service_time) + " = " +
                             number(sizing.at_work) + " records on average (Little's law)") +
         line("workers", number(sizing.at_work) + " / " + number(100 * service::utilisation) +
                             " % busy = " + number(sizing.wanted) + "; over " +
                             count(load.partitions, "partition") + " " + each) +
         line("capacity", number(sizing.workers) + " x " + number(load.partitions) + " / " +
                              about(load.service_time) + " = " + number(sizing.capacity) + " records/s") +
         line("threads", "at most, in one instance: " + count(sizing.most_partitions, "partition") + " x " +
                             number(sizing.workers) + " = " +
                             number(sizing.most_partitions * sizing.workers) +
                             " workers (handler.http: up to 4 threads instead)") +
         line("downstream", "gets up to " + number(sizing.connections) + " calls at the same time");
}

std::string queue(const Load& load, const Sizing& sizing) {
  return line("queue", "the records of " + about(burst) +
                           ", at least two for each worker: " + number(sizing.queue) +
                           "; the last record of a full queue waits " + about(sizing.queue_wait)) +
         line("drain", "a full lane needs " + about(sizing.drain) + "; lanes.drain is " + about(load.drain));
}

std::string memory(const Load& load, const Sizing& sizing) {
  const auto lane = static_cast<double>(sizing.lane_bytes);
  const std::string enough = sizing.memory > load.memory ? ", too little" : "";
  return line("records", "(" + number(sizing.queue) + " + " + number(sizing.workers) + ") x (" +
                             number(load.record_bytes) + " + " + number(laneway::lane::record_overhead) +
                             " bytes) = " + about(lane) + " in a full lane, " +
                             about(lane * static_cast<double>(sizing.most_partitions)) + " in one instance") +
         line("memory", "for one instance: " + count(sizing.memory_partitions, "partition") +
                            (sizing.memory_partitions > load.partitions ? " (the fewest)" : "") + " x " +
                            about(lane) + " x " + number(laneway::lane::parts_of_a_share) +
                            " (lane, fetched, spare) = " + about(sizing.memory_needed) +
                            "; lanes.memory is " + config::print_size(load.memory) + enough) +
         line("fetched", "records fetched ahead take at most " +
                             about(static_cast<double>(sizing.fetched_bytes)) + " of " +
                             config::print_size(sizing.memory));
}

std::string saturation(const Load& load, const Sizing& sizing) {
  const Duration wait = std::max(load.service_time - *load.cpu, Duration::zero());
  const std::string cores = number(load.cores * load.instances);
  return line("saturation", cores + " cores x (1 + wait/compute) = " + cores + " x (1 + " + about(wait) +
                                " / " + about(*load.cpu) + ") = " + number(*sizing.saturation) +
                                " running records keep all cores busy; more do not help") +
         line("", number(sizing.at_work) + " (Little's law) are " +
                      number(100 * sizing.at_work / *sizing.saturation) + " % of that");
}

std::string processors(const Load& load, const Sizing& sizing) {
  if (!sizing.cores) return line("processors", "not known; give the processor time of a record with --cpu");
  return line("processors", number(load.rate) + "/s x " + about(*load.cpu) + " = " + number(*sizing.cores) +
                                " cores; at " + number(100 * service::utilisation) + " % busy " +
                                count(*sizing.instances, "instance") + " of " + count(load.cores, "core")) +
         saturation(load, sizing);
}

std::string measured_backlog(const Load& load, double shrinking) {
  const auto records = "the backlog of " + number(load.backlog) + " records ";
  const double difference = std::abs(shrinking);
  const bool same = difference < load.rate / 1000 || static_cast<double>(load.backlog) / difference > 1e9;
  if (same) return line("backlog", records + "does not shrink: as many records arrive as are finished");
  if (shrinking < 0)
    return line("backlog",
                records + "grows: " + number(difference) + " records/s more arrive than are finished");
  const auto time = from_seconds(static_cast<double>(load.backlog) / shrinking);
  return line("backlog", records + "is worked off in " + about(time) + ", by " + number(difference) +
                             " records/s more than arrive");
}

std::string backlog(const Load& load, const Sizing& sizing) {
  if (load.backlog == 0) return "";
  if (load.shrinking) return measured_backlog(load, *load.shrinking);
  if (!sizing.backlog)
    return line("backlog", "the backlog of " + number(load.backlog) +
                               " records never ends: more records arrive than are finished");
  return line("backlog", number(load.backlog) + " records are worked off in " + about(*sizing.backlog) +
                             ", by " + number(sizing.capacity - load.rate) + " records/s more than arrive");
}

/// The lanes that the arithmetic does not describe.
std::string strained(const Load& load) {
  if (load.strained.empty()) return "";
  return "\nSome lanes do not keep up: " + config::listed(load.strained, 5) +
         ".\nThe arithmetic divides the load evenly over all lanes, so it cannot tell what these lanes need, "
         "and\nlanes.workers is not lowered. The advice of `laneway status` says what limits a lane.\n";
}

/// Why the plan does not lower the number of workers.
std::string kept(const Load& load, const Sizing& sizing) {
  if (!sizing.keeps_running_workers || !load.strained.empty()) return strained(load);
  return "\nThe current number of workers, " + number(load.running->workers) +
         " for each partition, is more than enough for the measured load: " + number(sizing.wanted_each) +
         " would do.\nDo not lower lanes.workers after a short measurement. For advice below the current "
         "number, measure\nat peak load with a --window of at least " +
         about(least_window) + " in which at least " + number(least_records) +
         " records are finished, or give the peak with --rate.\n";
}

}  // namespace

std::string print(const Load& load, const Sizing& sizing) {
  std::string text = question(load) + '\n' + workers(load, sizing) + queue(load, sizing) +
                     memory(load, sizing) + processors(load, sizing) + backlog(load, sizing);
  for (const auto& warning : sizing.warnings) text += "\nwarning: " + warning + '\n';
  text += kept(load, sizing) + "\nlanes: { workers: " + std::to_string(sizing.workers) +
          ", queue: " + std::to_string(sizing.queue);
  if (sizing.memory != load.memory) text += ", memory: " + config::print_size(sizing.memory);
  return text + " }\n";
}

std::string print(const Measured& measured, Duration window) {
  const Load& load = measured.load;
  const std::string change = measured.growth < 0 ? " fewer" : " more";
  return "measured over " + about(window) + ": " + number(measured.finished) + " records/s were finished, " +
         number(load.rate) + " arrived; " + number(measured.lag) + " are unfinished, " +
         number(std::abs(measured.growth)) + change +
         " each second\nnow: lanes: { workers: " + std::to_string(load.running->workers) +
         ", queue: " + std::to_string(load.running->queue) + " }\n\n";
}

}  // namespace laneway::plan
