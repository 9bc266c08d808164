// Reads the configuration again while the service runs, for SIGHUP and POST /reload.
//
// First the journal is opened again, whatever the configuration contains, so that its file can be rotated.
//
// All or nothing: the file is read and checked as at the start, with the same --set and environment. If a
// change is not possible in flight (config/reload.h), nothing is changed. The answer and the log have the
// changes, or the reason why nothing was changed, without secrets.
//
// Threads: any; one call at a time. Blocks while the files are read.
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

  /// `by`: the source of the request, for the log. `dry_run`: only returns what would change. Kinds: done;
  /// refused if the change is not possible now; invalid if the configuration is wrong or needs a restart.
  service::ControlAnswer reload(const char* by, bool dry_run) EXCLUDES(mutex_);

 private:
  service::ControlAnswer reload_settings(const char* by, bool dry_run) REQUIRES(mutex_);

  const std::function<config::Loaded()> load_;
  service::Service& service_;
  Mutex mutex_;
};

}  // namespace laneway::app
