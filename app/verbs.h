// The verbs of the command line. Each returns the program's exit code (exit_code.h), and is called once, by
// main, before the process has other threads.
#pragma once

#include <cstdint>
#include <string>

#include "app/control/options.h"
#include "app/dlq/options.h"
#include "app/plan/options.h"
#include "config/loader.h"

namespace laneway::app {

/// The service, until a signal or a fatal error ends it.
int run(const config::Source& source);
/// Prints what is in force and what would happen. `connect`: asks brokers and the handler's server too.
int check(const config::Source& source, bool connect);
/// Workers, queue and instances for a load, given or measured from running services.
int plan_load(const plan::Options& options);
struct DemoOptions {
  std::uint64_t records = 4000;
  std::int64_t seconds = 20;
};
/// The service at work on an embedded cluster. Done: nothing lost, nothing duplicated, everything committed,
/// or interrupted by a person.
int demo(const DemoOptions& options);
/// `verb` is list, show or redrive of dead letters. Done also when there are none.
int dead_letters(const config::Source& source, const std::string& verb, const dlq::Options& options);
/// A running service's lanes, as a table or JSON, once or again and again.
int status(const config::Source& source, const control::Options& options);
/// `verb` is pause, resume or skip, told to a running service.
int control(const config::Source& source, const std::string& verb, const control::Options& options);
/// A running service reads its configuration again.
int reload(const config::Source& source, const control::Options& options);
/// laneway's own and each library's.
int version();

}  // namespace laneway::app
