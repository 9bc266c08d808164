// What programs of `handler.exec` write to their standard error: a line of our log each, escaped, cut to
// 1 KiB, and no more than 100 lines in 10 s for all of them together; how many were left out is said.
//
// Threads: any. Blocks: as a line of the log does.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "telemetry/repeat_limiter.h"

namespace laneway::handler {

/// Shared by all of a handler's programs.
class ExecErrorLog {
 public:
  void write(pid_t pid, std::string_view line) EXCLUDES(mutex_);
  /// Says what was left out in a time that is over, or with `everything` until now.
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

  /// Reads what is there, up to 64 KiB; false at its end.
  bool drain() EXCLUDES(mutex_);
  /// To be polled for more; -1 after its end.
  int open_descriptor() EXCLUDES(mutex_);
  /// The last line that was not blank, as far as it has come; safe to print.
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
