// The verbs of the command line. Each returns the program's exit code (exit_code.h), and is called once, by
// main, before the process has other threads.
#pragma once

#include <cstdint>
#include <string>

#include "config/loader.h"

namespace laneway::control {
struct Options;
}
namespace laneway::dlq {
struct Options;
}
namespace laneway::plan {
struct Options;
}

namespace laneway::app {

/// Runs the service until a signal or a fatal error ends it.
int run(const config::Source& source);
struct CheckOptions {
  bool connect = false;  ///< also asks the brokers and the handler's server
  bool verbose = false;  ///< also prints the configuration that is in force
};
/// Prints whether the configuration is valid, and what a service with it would do.
int check(const config::Source& source, const CheckOptions& options);
/// Prints workers, queue and instances for a load that is given, or measured from running services.
int plan_load(const plan::Options& options);
struct DemoOptions {
  std::uint64_t records = 4000;
  std::int64_t seconds = 20;
};
/// Runs the service on an embedded cluster. Exit code `done`: no record was lost or duplicated, and all
/// records were committed or a person interrupted the demo.
int demo(const DemoOptions& options);
/// `verb` is list, show or redrive. Exit code `done` also when there are no dead letters.
int dead_letters(config::Source source, const std::string& verb, const dlq::Options& options);
/// Prints the state of a running service, as a table or as JSON, once or every second.
int status(const config::Source& source, const control::Options& options);
/// `verb` is suspend, resume or skip, sent to a running service.
int control(const config::Source& source, const std::string& verb, const control::Options& options);
/// `verb` is send-on or give-up, sent to a running service.
int order_parked(const config::Source& source, const std::string& verb, const control::Options& options);
/// Makes a running service read its configuration again.
int reload(const config::Source& source, const control::Options& options);
/// Prints the version of laneway and of each library.
int version();

}  // namespace laneway::app
