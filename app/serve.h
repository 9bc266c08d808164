// The service as a program runs it: log, watchdog, signals, admin server, and an exit code at the end.
//
// Threads: serve() is called once, by one thread; Stop::request() by any. Blocks until the service has ended;
// if it does not end in time after a stop, the process ends instead.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "config/loader.h"
#include "handler/handler.h"

namespace laneway::app {

/// A stop that may come from the program's own code, at any time.
class Stop {
 public:
  /// The first drains, the second cuts that short.
  void request() EXCLUDES(mutex_);

  /// From now on requests are calls of `act`, also those that came before. An empty one ends that, and waits
  /// for a call that is under way.
  void connect(std::function<void()> act) EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  std::function<void()> act_ GUARDED_BY(mutex_);
  int waiting_ GUARDED_BY(mutex_) = 0;
};

struct Serving {
  std::unique_ptr<handler::Handler> handler;  ///< none: the configuration's
  /// Reads the configuration again, for a reload.
  std::function<config::Loaded()> load;
  Stop* stop = nullptr;  ///< none: by signals only
  bool signals =
      true;  ///< SIGTERM and SIGINT stop, SIGHUP reloads; they are blocked (block_signals); systemd is told
};

/// `loaded` has a configuration; `file` is its name for the log. Returns the exit code.
int serve(const config::Loaded& loaded, const std::string& file, Serving serving);

}  // namespace laneway::app
