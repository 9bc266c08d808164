// The file with the subscribers of webhooks (config/handlers/subscribers.h) while the service runs.
//
// The file is read again when it has changed, all or nothing: a file with a mistake changes nothing, and the
// mistake is an error in the log, with its line, until the file is right. A change is noticed by the file's
// size, time, number or device, at the first use a second or more after the previous look, and at once when
// a name is unknown or its subscriber is disabled: the pool before may have a newer version. Files with
// secrets that the file names are read with it: touch the file after a change of theirs.
//
// Threads: any. Blocks as long as it takes to look at a file, and to read it after a change.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "config/handlers/subscribers.h"

namespace laneway::handler {

class SubscriberFile {
 public:
  using List = std::shared_ptr<const std::vector<config::Subscriber>>;

  /// Errors: those of config::read_subscribers.
  static Result<std::unique_ptr<SubscriberFile>> open(const std::string& path);

  /// The subscribers; never null.
  List current() EXCLUDES(mutex_);
  struct Found {
    std::shared_ptr<const config::Subscriber> subscriber;  ///< null if there is none; keeps its list alive
    /// If there is none, or it is disabled: what is wrong with the file since its last right version.
    std::optional<std::string> problem;
  };
  /// The subscriber with this name. Both parts of the answer are of the same look at the file.
  Found find(std::string_view name) EXCLUDES(mutex_);
  const std::string& path() const { return path_; }

 private:
  /// By which a changed file is recognised.
  struct Version {
    dev_t device = 0;
    ino_t number = 0;
    off_t size = -1;
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    bool operator==(const Version&) const = default;
  };

  SubscriberFile(std::string path, Version version, List list)
      : path_(std::move(path)), looked_at_(SteadyClock::now()), version_(version), list_(std::move(list)) {}

  static Version version_of(const std::string& path);
  void look() REQUIRES(mutex_);

  const std::string path_;
  Mutex mutex_;
  TimePoint looked_at_ GUARDED_BY(mutex_);
  Version version_ GUARDED_BY(mutex_);
  List list_ GUARDED_BY(mutex_);
  std::optional<std::string> problem_ GUARDED_BY(mutex_);
};

}  // namespace laneway::handler
