// The options of `laneway dlq list | show | redrive`, and how the command line fills them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/dlq/filter.h"

namespace CLI {
class App;
}

namespace laneway::dlq {

struct Options {
  /// Dead-letter topics; empty: the topics of the configuration.
  std::vector<std::string> topics;
  Filter filter;
  bool json = false;          ///< list
  bool pending = false;       ///< list: only letters that were not sent back
  std::uint64_t limit = 0;    ///< list: the most lines; 0: all
  std::string place;          ///< show: [TOPIC:]PARTITION:OFFSET
  std::size_t bytes = 4096;   ///< show: the most bytes of each part; 0: all
  bool yes = false;           ///< redrive: send, and not only count
  std::string to;             ///< redrive: a topic; empty: the topic that each letter came from
  double rate = 0;            ///< redrive: records a second; 0: no limit
  bool present_time = false;  ///< redrive: with the present time as timestamp instead of their own
  std::uint32_t max_redrives = 3;
};

/// Adds the verb to the program. Parsing fills `options`, and refuses texts that are not a time or a place.
CLI::App* add_verb(CLI::App& program, Options& options);

}  // namespace laneway::dlq
