// The configuration read again while the service runs: by SIGHUP and by POST /reload.
//
// All or nothing: it is read and checked as at the start, with the same --set and environment, and everything
// that differs must be possible in flight (config/reload.h); else nothing is changed. What is changed, and
// why nothing is, is answered and logged, without secrets.
//
// Threads: reload() from any; one at a time. Blocks while the files are read.
#pragma once

#include <functional>

#include "base/mutex.h"
#include "config/loader.h"
#include "service/service.h"

namespace laneway::app {

class Reloader {
 public:
  Reloader(std::function<config::Loaded()> load, service::Service& service)
      : load_(std::move(load)), service_(service) {}

  /// `by`: what asks for it, for the log. `dry_run`: says what would change. Kinds: done; refused, it cannot
  /// be changed now; invalid, the configuration is wrong or needs a restart.
  service::ControlAnswer reload(const char* by, bool dry_run) EXCLUDES(mutex_);

 private:
  const std::function<config::Loaded()> load_;
  service::Service& service_;
  Mutex mutex_;
};

}  // namespace laneway::app
