#include "app/plan/print.h"

#include <algorithm>
#include <cmath>

#include "app/plan/numbers.h"
#include "config/units.h"
#include "lane/member/memory_plan.h"

namespace laneway::plan {
namespace {

std::string count(std::uint64_t many, const std::string& noun) {
  return number(many) + ' ' + noun + (many == 1 ? "" : "s");
}

/// Three digits are enough of what is computed.
std::string rounded_text(Duration duration) {
  if (duration >= seconds(10)) return config::print_duration(std::chrono::round<seconds>(duration));
  if (duration >= milliseconds(10)) return config::print_duration(std::chrono::round<milliseconds>(duration));
  return config::print_duration(std::chrono::round<microseconds>(duration));
}

std::string line(const std::string& name, const std::string& text) {
  return "  " + name + std::string(12 - name.size(), ' ') + text + '\n';
}

std::string question(const Load& load) {
  std::string text = number(load.rate) + " records/s of " + number(load.record_bytes) + " bytes, " +
                     config::print_duration(load.service_time) + " each";
  if (load.cpu) text += ", " + config::print_duration(*load.cpu) + " of it processor time here";
  return text + "; " + count(load.partitions, "partition") + ", " + count(load.instances, "instance") +
         " of " + count(load.cores, "core") + "\n";
}

std::string workers(const Load& load, const Sizing& sizing) {
  const bool limited = sizing.workers < sizing.wanted_each;
  return line("at work", number(load.rate) + "/s x " + config::print_duration(load.service_time) + " = " +
                             number(sizing.at_work) + " records on average (Little's law)") +
         line("workers", number(sizing.at_work) + " / " + number(100 * utilisation) + " % busy = " +
                             number(sizing.wanted) + "; over " + count(load.partitions, "partition") + " " +
                             number(sizing.wanted_each) + " each" +
                             (limited ? ", of which " + number(sizing.workers) + " are allowed" : "")) +
         line("capacity", number(sizing.workers) + " x " + number(load.partitions) + " / " +
                              config::print_duration(load.service_time) + " = " + number(sizing.capacity) +
                              " records/s") +
         line("threads", "of one instance at most " + count(sizing.most_partitions, "partition") + " x " +
                             number(sizing.workers) + " = " +
                             number(sizing.most_partitions * sizing.workers) +
                             " workers (http: up to 4 threads instead)") +
         line("downstream", "must bear " + number(sizing.connections) + " calls at once");
}

std::string queue(const Load& load, const Sizing& sizing) {
  return line("queue", "a burst of " + config::print_duration(burst) +
                           ", two for each worker at least: " + number(sizing.queue) +
                           "; the last of a full one waits " + rounded_text(sizing.queue_wait)) +
         line("drain", "a full lane takes " + rounded_text(sizing.drain) + "; lanes.drain is " +
                           config::print_duration(load.drain));
}

std::string memory(const Load& load, const Sizing& sizing) {
  const auto lane = static_cast<double>(sizing.lane_bytes);
  const std::string enough = sizing.memory > load.memory ? ", too little" : "";
  return line("records", "(" + number(sizing.queue) + " + " + number(sizing.workers) + ") x (" +
                             number(load.record_bytes) + " + " + number(laneway::lane::record_overhead) +
                             " bytes) = " + about(lane) + " in a full lane, " +
                             about(lane * static_cast<double>(sizing.most_partitions)) + " in one instance") +
         line("memory", "of an instance " + count(load.partitions, "partition") + " x " + about(lane) +
                            " x " + number(laneway::lane::parts_of_a_share) +
                            " (lane, fetched, spare) = " + about(sizing.memory_needed) +
                            "; lanes.memory is " + config::print_size(load.memory) + enough) +
         line("fetched", "ahead at most " + about(static_cast<double>(sizing.fetched_bytes)) + " of " +
                             config::print_size(sizing.memory));
}

std::string saturation(const Load& load, const Sizing& sizing) {
  const Duration wait = std::max(load.service_time - *load.cpu, Duration::zero());
  const std::string cores = number(load.cores * load.instances);
  return line("saturation", cores + " cores x (1 + wait/compute) = " + cores + " x (1 + " +
                                config::print_duration(wait) + " / " + config::print_duration(*load.cpu) +
                                ") = " + number(*sizing.saturation) +
                                " at work keep all cores busy; more gain nothing") +
         line("", number(sizing.at_work) + " (Little's law) are " +
                      number(100 * sizing.at_work / *sizing.saturation) + " % of that");
}

std::string processors(const Load& load, const Sizing& sizing) {
  if (!sizing.cores) return line("processors", "not known: --cpu says what a record takes of them");
  return line("processors", number(load.rate) + "/s x " + config::print_duration(*load.cpu) + " = " +
                                number(*sizing.cores) + " cores; at " + number(100 * utilisation) +
                                " % busy " + count(*sizing.instances, "instance") + " of " +
                                count(load.cores, "core")) +
         saturation(load, sizing);
}

std::string backlog(const Load& load, const Sizing& sizing) {
  if (load.backlog == 0) return "";
  if (!sizing.backlog)
    return line("backlog", number(load.backlog) + " records are never gone: more come than are done");
  const std::string when = "are gone after " + rounded_text(*sizing.backlog);
  return line("backlog", number(load.backlog) + " records at " + number(sizing.capacity - load.rate) +
                             " more than come " + when);
}

}  // namespace

std::string print(const Load& load, const Sizing& sizing) {
  std::string text = question(load) + '\n' + workers(load, sizing) + queue(load, sizing) +
                     memory(load, sizing) + processors(load, sizing) + backlog(load, sizing);
  for (const auto& warning : sizing.warnings) text += "\nwarning: " + warning + '\n';
  text +=
      "\nlanes: { workers: " + std::to_string(sizing.workers) + ", queue: " + std::to_string(sizing.queue);
  if (sizing.memory != load.memory) text += ", memory: " + config::print_size(sizing.memory);
  return text + " }\n";
}

std::string print(const Measured& measured, Duration window) {
  const Load& load = measured.load;
  const std::string grown = measured.growth < 0 ? " less" : " more";
  return "measured over " + config::print_duration(window) + ": " + number(measured.finished) +
         " records/s were done, " + number(load.rate) + " came; " + number(measured.lag) + " wait, " +
         number(std::abs(measured.growth)) + grown +
         " each second\nnow: lanes: { workers: " + std::to_string(load.running->workers) +
         ", queue: " + std::to_string(load.running->queue) + " }\n\n";
}

}  // namespace laneway::plan
