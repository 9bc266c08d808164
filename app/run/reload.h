// Reads the configuration again while the service runs, for SIGHUP and POST /reload, and opens the journal
// again, for SIGUSR1.
//
// A reload first opens the journal again, whatever the configuration contains. A rotation of the journal must
// not reload: an edit of the configuration may be unfinished at that moment.
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
  /// The journal goes on in the file that has its name now, or, on an error, in the file that it has.
  Status reopen_journal() EXCLUDES(mutex_);

 private:
  Status reopen() REQUIRES(mutex_);
  service::ControlAnswer reload_settings(const char* by, bool dry_run) REQUIRES(mutex_);

  const std::function<config::Loaded()> load_;
  service::Service& service_;
  Mutex mutex_;
};

}  // namespace laneway::app
