// The options of `laneway plan`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/plan/sizing.h"

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

}  // namespace laneway::plan
