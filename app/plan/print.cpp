#include "app/plan/print.h"

#include <cmath>
#include <cstdio>

#include "config/units.h"

namespace laneway::app::plan {
namespace {

/// 20,000; with one digit after the point where there is no whole number, with two below a tenth.
std::string number(double value) {
  const bool exact = value >= 100 || std::abs(value - std::round(value)) < 0.05;
  const bool small = value < 0.095 && value >= 0.005;
  char digits[64];
  std::snprintf(digits, sizeof(digits), "%.*f", small ? 2 : exact ? 0 : 1, value);
  std::string text(digits);
  const auto point = text.find('.');
  for (auto at = static_cast<std::ptrdiff_t>(point == std::string::npos ? text.size() : point) - 3; at > 0;
       at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}
std::string number(std::uint64_t value) { return number(static_cast<double>(value)); }

std::string count(std::uint64_t many, const std::string& noun) {
  return number(many) + ' ' + noun + (many == 1 ? "" : "s");
}

/// Three digits are enough of what is computed.
std::string rounded(Duration duration) {
  if (duration >= seconds(10)) return config::print_duration(std::chrono::round<seconds>(duration));
  if (duration >= milliseconds(10)) return config::print_duration(std::chrono::round<milliseconds>(duration));
  return config::print_duration(std::chrono::round<microseconds>(duration));
}

std::string line(const std::string& name, const std::string& text) {
  return "  " + name + std::string(12 - name.size(), ' ') + text + '\n';
}

std::string question(const Load& load) {
  std::string text = number(load.rate) + " records/s, " + config::print_duration(load.service_time) + " each";
  if (load.cpu) text += ", " + config::print_duration(*load.cpu) + " of it processor time here";
  return text + "; " + count(load.partitions, "partition") + ", " + count(load.instances, "instance") +
         " of " + count(load.cores, "core") + "\n";
}

std::string workers(const Load& load, const Sizing& sizing) {
  return line("at work", number(load.rate) + "/s x " + config::print_duration(load.service_time) + " = " +
                             number(sizing.at_work) + " records on average (Little's law)") +
         line("workers", number(sizing.at_work) + " / " + number(100 * utilisation) +
                             " % busy = " + number(sizing.wanted) + "; over " +
                             count(load.partitions, "partition") + " " + number(sizing.workers) + " each") +
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
                           "; the last of a full one waits " + rounded(sizing.queue_wait)) +
         line("drain", "a full lane takes " + rounded(sizing.drain) + "; lanes.drain is " +
                           config::print_duration(load.drain));
}

std::string processors(const Load& load, const Sizing& sizing) {
  if (!sizing.cores) return line("processors", "not known: --cpu says what a record takes of them");
  return line("processors", number(load.rate) + "/s x " + config::print_duration(*load.cpu) + " = " +
                                number(*sizing.cores) + " cores; at " + number(100 * utilisation) +
                                " % busy " + count(*sizing.instances, "instance") + " of " +
                                count(load.cores, "core"));
}

std::string backlog(const Load& load, const Sizing& sizing) {
  if (load.backlog == 0) return "";
  const std::string when = sizing.backlog ? "are gone after " + rounded(*sizing.backlog) : "are never gone";
  return line("backlog", number(load.backlog) + " records at " + number(sizing.capacity - load.rate) +
                             " more than come " + when);
}

}  // namespace

std::string print(const Load& load, const Sizing& sizing) {
  std::string text = question(load) + '\n' + workers(load, sizing) + queue(load, sizing) +
                     processors(load, sizing) + backlog(load, sizing);
  for (const auto& warning : sizing.warnings) text += "\nwarning: " + warning + '\n';
  return text + "\nlanes: { workers: " + std::to_string(sizing.workers) +
         ", queue: " + std::to_string(sizing.queue) + " }\n";
}

std::string print(const Measured& measured, Duration window) {
  const Load& load = measured.load;
  const std::string grown = measured.growth < 0 ? " less" : " more";
  return "measured over " + config::print_duration(window) + ": " + number(measured.finished) +
         " records/s were done, " + number(load.rate) + " came; " + number(measured.lag) + " wait, " +
         number(std::abs(measured.growth)) + grown +
         " each second\nnow: lanes: { workers: " + std::to_string(measured.workers) +
         ", queue: " + std::to_string(measured.queue) + " }\n\n";
}

}  // namespace laneway::app::plan
