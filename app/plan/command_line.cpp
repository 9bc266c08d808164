#include <CLI/CLI.hpp>

#include "app/cli/help.h"
#include "app/cli/option.h"
#include "app/plan/options.h"
#include "config/units.h"

namespace laneway::plan {
namespace {

constexpr std::uint64_t most = 1'000'000;

std::string not_a_duration(const std::string& text, const std::string& hint) {
  return "'" + text + "' is not a duration (" + hint + ')';
}

/// A duration from 1 us to 1 h: the arithmetic then stays within the range of its numbers.
template <class Time>
void add_duration(CLI::App& verb, const char* name, const char* what, Time& into) {
  const auto parse = [&into, name](const std::string& text) {
    const auto duration = config::parse_duration(text);
    if (!duration) throw CLI::ValidationError(name, not_a_duration(text, "write " + duration.error().hint));
    if (*duration < microseconds(1) || *duration > std::chrono::hours(1))
      throw CLI::ValidationError(name, not_a_duration(text, "from 1us to 1h"));
    into = *duration;
  };
  verb.add_option_function<std::string>(name, parse, what)->option_text("DURATION");
}

void add_count(CLI::App& verb, const char* name, std::optional<std::uint64_t>& value, const char* what,
               std::uint64_t largest = most) {
  cli::add_option(verb, name, "NUMBER", value, what, cli::whole_number(1, largest));
}

void add_measuring(CLI::App& verb, Options& options) {
  cli::repeated(cli::add_option(
      verb, "--from", "HOST:PORT", options.from,
      "measure the running service at this address, its admin.listen; repeat for each instance "
      "of the group; the other options replace measured values"));
  add_duration(verb, "--window", "duration of the measurement (default 10s)", options.window);
}

void refuse_nonsense(const Options& options) {
  if (options.from.empty() && !options.rate)
    throw CLI::ValidationError("--rate is missing; without --from, --rate and --service-time are required");
  if (options.from.empty() && !options.service_time)
    throw CLI::ValidationError(
        "--service-time is missing; without --from, --rate and --service-time are required");
  if (options.cpu && options.service_time && *options.cpu > *options.service_time)
    throw CLI::ValidationError("--cpu is longer than --service-time, of which it is a part");
  if (options.window < milliseconds(100)) throw CLI::ValidationError("--window is less than 100ms");
}

void add_load(CLI::App& verb, Options& options) {
  cli::add_option(verb, "--rate", "NUMBER", options.rate, "records per second, of all partitions together",
                  cli::number(0.001, 1e8));
  add_duration(verb, "--service-time", "duration of one record, with its waiting, such as 15ms",
               options.service_time);
  add_duration(verb, "--cpu", "the part of --service-time that is processor time of laneway", options.cpu);
  add_count(verb, "--partitions", options.partitions, "partitions of the topic (default 16)");
  add_count(verb, "--instances", options.instances, "processes that share the partitions (default 1)");
  add_count(verb, "--cores", options.cores, "cores of one instance (default: cores of this machine)");
  cli::add_option(verb, "--backlog", "NUMBER", options.backlog,
                  "records that already wait in the topic (default 0)",
                  cli::whole_number(0, std::uint64_t{1} << 53));
  add_count(verb, "--record-bytes", options.record_bytes, "average size of key and value (default 1024)",
            std::uint64_t{1} << 30);
  add_duration(verb, "--drain", "the value of lanes.drain (default 20s)", options.drain);
}

}  // namespace

void add_verb(CLI::App& program, Options& options) {
  CLI::App* verb = program.add_subcommand("plan", "Work out workers, queue, memory and instances for a load")
                       ->group(cli::group::plan);
  add_load(*verb, options);
  add_measuring(*verb, options);
  verb->final_callback([&options] { refuse_nonsense(options); });
  verb->footer(cli::footer(
      "The load is given, or measured with --from. The arithmetic is shown.",
      {"laneway plan --rate 20000 --service-time 15ms", "laneway plan --from 127.0.0.1:9644 --window 60s"}));
}

Load with_given(Load load, const Options& options) {
  if (options.rate || options.service_time || options.partitions) load.shrinking.reset();
  load.rate = options.rate.value_or(load.rate);
  load.measured_well = load.measured_well || options.rate.has_value();
  load.service_time = options.service_time.value_or(load.service_time);
  if (options.cpu) load.cpu = options.cpu;
  load.partitions = options.partitions.value_or(load.partitions);
  load.instances = options.instances.value_or(load.instances);
  load.cores = options.cores.value_or(load.cores);
  load.backlog = options.backlog.value_or(load.backlog);
  load.record_bytes = options.record_bytes.value_or(load.record_bytes);
  load.drain = options.drain.value_or(load.drain);
  return load;
}

}  // namespace laneway::plan
