#include "app/plan/command_line.h"

#include <CLI/CLI.hpp>
#include "config/units.h"

namespace laneway::plan {
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

void add_count(CLI::App& verb, const char* name, std::optional<std::uint64_t>& value, const char* what) {
  verb.add_option(name, value, what)->check(CLI::Range(std::uint64_t{1}, most))->option_text("NUMBER");
}

void add_measuring(CLI::App& verb, Options& options) {
  verb.add_option("--from", options.from,
                  "measure a running service (once for each instance of the group); what is given besides "
                  "is not measured")
      ->option_text("URL")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  add_duration(verb, "--window", "measure for so long (10s)",
               [&options](Duration time) { options.window = time; });
}

void refuse_nonsense(const Options& options) {
  if (options.from.empty() && !options.rate) throw CLI::RequiredError("--rate (or --from)");
  if (options.from.empty() && !options.service_time) throw CLI::RequiredError("--service-time (or --from)");
  if (options.cpu && options.service_time && *options.cpu > *options.service_time)
    throw CLI::ValidationError("--cpu", "is a part of --service-time and cannot be longer");
  if (options.window < milliseconds(100)) throw CLI::ValidationError("--window", "is less than 100ms");
}

}  // namespace

CLI::App* add_verb(CLI::App& program, Options& options) {
  CLI::App* verb =
      program
          .add_subcommand("plan",
                          "workers, queue, memory and instances for a load, given or measured, with "
                          "the arithmetic")
          ->group("Verbs");
  verb->add_option("--rate", options.rate, "records a second, of all partitions together")
      ->check(CLI::Range(0.001, 1e8))
      ->option_text("NUMBER");
  add_duration(*verb, "--service-time", "what one record takes, waiting included",
               [&options](Duration time) { options.service_time = time; });
  add_duration(*verb, "--cpu", "of that, processor time in this process",
               [&options](Duration time) { options.cpu = time; });
  add_count(*verb, "--partitions", options.partitions, "of the topic (16)");
  add_count(*verb, "--instances", options.instances, "processes that share it (1)");
  add_count(*verb, "--cores", options.cores, "of one instance (this machine's)");
  verb->add_option("--backlog", options.backlog, "records that wait already")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 53))
      ->option_text("NUMBER");
  verb->add_option("--record-bytes", options.record_bytes, "of key and value, on average (1024)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 30))
      ->option_text("NUMBER");
  add_duration(*verb, "--drain", "lanes.drain (20s)", [&options](Duration time) { options.drain = time; });
  add_measuring(*verb, options);
  verb->final_callback([&options] { refuse_nonsense(options); });
  return verb;
}

Load with_given(Load load, const Options& options) {
  load.rate = options.rate.value_or(load.rate);
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

std::string address_in(std::string url) {
  if (url.starts_with("http://")) url.erase(0, 7);
  if (const auto path = url.find('/'); path != std::string::npos && !url.starts_with("https:"))
    url.erase(path);
  return url;
}

}  // namespace laneway::plan
