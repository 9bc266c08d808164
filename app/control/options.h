// What a person asks for with `laneway status | suspend | resume | skip | send-on | give-up | reload`.
#pragma once

#include <string>

#include "app/cli/place.h"
#include "config/loader.h"

namespace CLI {
class App;
}

namespace laneway::control {

struct Options {
  std::string admin;       ///< host:port; empty: the configuration's, else the default of admin.listen
  std::string token_file;  ///< empty: the configuration's, if any
  bool watch = false;
  bool json = false;
  std::string target;  ///< TOPIC[:PARTITION], TOPIC:PARTITION:OFFSET, a pool
  std::string reason;
  std::string subscriber;  ///< give-up; empty: all of the pool
  bool here = false;       ///< suspend
  bool dry_run = false;
};

/// Adds the verbs to the program; `options` and `source` are filled when one of them is parsed.
void add_verbs(CLI::App& program, Options& options, config::Source& source);

/// The path of the request. Pure.
std::string control_path(const cli::Place& target, const std::string& verb);

}  // namespace laneway::control
