// Runs the service as a program: with log, watchdog, signals, admin server, and an exit code at the end.
//
// Threads: serve() is called once, by one thread; Stop::request() by any. Blocks until the service has ended.
// If the service does not end in time after a stop, the process ends.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "config/loader.h"
#include "handler/handler.h"

namespace laneway::app {

/// A stop that the program's own code can request at any time.
class Stop {
 public:
  /// The first request drains; the second cuts the drain short.
  void request() EXCLUDES(mutex_);

  /// Each request, also an earlier one, calls `act`. With an empty `act`, requests wait again, and connect()
  /// waits for a running call.
  void connect(std::function<void()> act) EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  std::function<void()> act_ GUARDED_BY(mutex_);
  int waiting_ GUARDED_BY(mutex_) = 0;
};

struct Serving {
  std::unique_ptr<handler::Handler> handler;  ///< null: the handler of the configuration
  /// Reads the configuration again for a reload.
  std::function<config::Loaded()> load;
  Stop* stop = nullptr;  ///< null: only signals stop the service
  /// SIGTERM and SIGINT stop, SIGHUP reloads, SIGUSR1 opens the journal again; block_signals() was called;
  /// systemd is notified.
  bool signals = true;
};

/// `loaded` has a configuration; `file` is its name in the log. Returns the exit code.
int serve(const config::Loaded& loaded, const std::string& file, Serving serving);

}  // namespace laneway::app
