// The options of `laneway plan`, and how the command line fills them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/plan/sizing.h"

namespace CLI {
class App;
}

namespace laneway::plan {

/// Values from the command line.
struct Options {
  std::vector<std::string> from;  ///< host:port of running services; empty if nothing is measured
  Duration window = seconds(10);
  std::optional<double> rate;
  std::optional<Duration> service_time;
  std::optional<Duration> cpu;
  std::optional<std::uint64_t> partitions;
  std::optional<std::uint64_t> instances;
  std::optional<std::uint64_t> cores;
  std::optional<std::uint64_t> backlog;
  std::optional<std::uint64_t> record_bytes;
  std::optional<Duration> drain;
};

/// Adds the verb to the program. Parsing fills `options`, and refuses values that make no sense.
void add_verb(CLI::App& program, Options& options);

/// Returns `load` with the values of the command line in place of its own. Pure.
Load with_given(Load load, const Options& options);

}  // namespace laneway::plan
