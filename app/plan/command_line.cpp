#include "app/plan/command_line.h"

#include <algorithm>
#include <thread>

#include "config/units.h"

namespace laneway::app::plan {
namespace {

constexpr std::uint64_t most = 1'000'000;

/// A duration of at least 1 us and at most an hour, which keeps the arithmetic in its numbers.
template <class Take>
CLI::Option* add_duration(CLI::App& verb, const char* name, const char* what, Take take) {
  const auto parse = [take, name](const std::string& text) {
    const auto duration = config::parse_duration(text);
    if (!duration) throw CLI::ValidationError(name, duration.error().text());
    if (*duration < microseconds(1) || *duration > std::chrono::hours(1))
      throw CLI::ValidationError(name, text + " is not between 1us and 1h");
    take(*duration);
  };
  return verb.add_option_function<std::string>(name, parse, what)->option_text("DURATION");
}

void add_count(CLI::App& verb, const char* name, std::uint64_t& value, const char* what) {
  verb.add_option(name, value, what)
      ->check(CLI::Range(std::uint64_t{1}, most))
      ->option_text("NUMBER=" + std::to_string(value));
}

}  // namespace

CLI::App* add_verb(CLI::App& program, Load& load) {
  load.cores = std::max(1U, std::thread::hardware_concurrency());
  CLI::App* verb =
      program.add_subcommand("plan", "workers, queue and instances for a load, with the arithmetic")
          ->group("Verbs");
  verb->add_option("--rate", load.rate, "records a second, of all partitions together")
      ->check(CLI::Range(0.001, 1e8))
      ->option_text("NUMBER")
      ->required();
  add_duration(*verb, "--service-time", "what one record takes, waiting included", [&load](Duration time) {
    load.service_time = time;
  })->required();
  add_duration(*verb, "--cpu", "of that, processor time in this process",
               [&load](Duration time) { load.cpu = time; });
  add_count(*verb, "--partitions", load.partitions, "of the topic");
  add_count(*verb, "--instances", load.instances, "processes that share it");
  add_count(*verb, "--cores", load.cores, "of one instance");
  verb->add_option("--backlog", load.backlog, "records that wait already")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 53))
      ->option_text("NUMBER");
  add_duration(*verb, "--drain", "lanes.drain", [&load](Duration time) { load.drain = time; });
  verb->final_callback([&load] {
    if (load.cpu && *load.cpu > load.service_time)
      throw CLI::ValidationError("--cpu", "is a part of --service-time and cannot be longer");
  });
  return verb;
}

}  // namespace laneway::app::plan
