// The configuration of the service for each case of lane_bench. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "config/config.h"

namespace bench {

/// The command line of lane_bench.
struct Options {
  std::string bootstrap;
  std::string topic;
  std::string group;
  std::uint64_t records = 0;
  std::uint64_t partitions = 1000;
  double seconds = 10;
  std::string plugin;
  bool healthy = false;
  std::string metrics;
  std::string to;
  bool transactional = false;
  std::string url;
  std::uint32_t batch = 0;
  std::uint32_t workers = 8;
  std::vector<std::string> child;
  std::string order = "key";
  std::uint64_t waiting = 0;
};

/// The pool of with_bulkheads() that does not hang.
inline constexpr const char* counted_pool = "counted";

/// The defaults, with work that takes so long.
laneway::config::Config configuration(const Options& options, laneway::Duration sleep);
/// Records whose key begins with 1 have a pool that hangs, or does nothing if it is healthy.
laneway::config::Config with_bulkheads(const Options& options);
laneway::config::Config posting(const Options& options);
/// As config/produce.yaml, and with the defaults of the loader for transactions.
laneway::config::Config writing(const Options& options);
laneway::config::Config piping(const Options& options);
laneway::config::Config loading(const Options& options);
/// The web service, the program or the plugin, whichever is given first; or work that takes 10 ms.
laneway::config::Config sharing(const Options& options);
/// Whoever fails waits for an hour, and nothing else holds the lanes.
laneway::config::Config with_room_for(const Options& options);

}  // namespace bench
