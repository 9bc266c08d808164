// The standard error of the programs of `handler.exec`: each line becomes a line of our log, escaped and cut
// to 1 KiB, with at most 100 lines in 10 s for all programs together. The number of omitted lines is logged.
//
// Threads: any. Blocks: as long as writing a line of the log.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "telemetry/repeat_limiter.h"

namespace laneway::handler {

/// Shared by all programs of a handler.
class ExecErrorLog {
 public:
  void write(pid_t pid, std::string_view line) EXCLUDES(mutex_);
  /// Logs the number of lines that were omitted in a period that has ended, or with `everything` until now.
  void report(bool everything) EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  telemetry::RepeatLimiter limiter_ GUARDED_BY(mutex_){{.most = 100, .window = seconds(10), .keys = 1}};
};

/// The standard error of one program, cut into lines.
class ExecErrorStream {
 public:
  ExecErrorStream(int fd, pid_t pid, std::shared_ptr<ExecErrorLog> log)
      : fd_(fd), pid_(pid), log_(std::move(log)) {}

  /// Reads the available bytes, up to 64 KiB; returns false at the end.
  bool drain() EXCLUDES(mutex_);
  /// The descriptor to poll for more; -1 after the end.
  int open_descriptor() EXCLUDES(mutex_);
  /// The last line that was not blank, possibly incomplete; safe to print.
  std::string last_line() EXCLUDES(mutex_);

 private:
  void take(std::string_view bytes) REQUIRES(mutex_);
  void end_line() REQUIRES(mutex_);

  const int fd_;
  const pid_t pid_;
  const std::shared_ptr<ExecErrorLog> log_;
  Mutex mutex_;
  bool at_end_ GUARDED_BY(mutex_) = false;
  std::string line_ GUARDED_BY(mutex_);
  std::string last_ GUARDED_BY(mutex_);
};

}  // namespace laneway::handler
