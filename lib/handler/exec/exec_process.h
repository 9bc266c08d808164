// One process started for `handler.exec`: its pipes, its exit, and the ways to end it.
//
// It leads a process group of its own, starts with no signal blocked or ignored, has our environment without
// what is laneway's (LANEWAY_*, the service manager's notification socket), of our descriptors only its three
// pipes, and the limit on open files that we inherited. Our ends do not block. When it has ended, what it
// left behind in its group is killed before its number can be another's.
//
// Threads: input and output are for one thread at a time; the rest may be called from any. Blocks: start(),
// until the program is loaded.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"

namespace laneway::handler {

class ExecProcess {
 public:
  /// `command`: an absolute path and arguments. Error: unavailable, with the system's reason; exhausted,
  /// where this process has no descriptors, or may have no more processes.
  static Result<std::unique_ptr<ExecProcess>> start(const std::vector<std::string>& command);
  /// Kills what has not ended.
  ~ExecProcess();
  ExecProcess(const ExecProcess&) = delete;
  ExecProcess& operator=(const ExecProcess&) = delete;

  pid_t pid() const { return pid_; }
  Descriptor& input() { return input_; }    ///< what it reads
  Descriptor& output() { return output_; }  ///< what it writes
  const Descriptor& errors() const { return errors_; }
  /// Readable when it has ended.
  const Descriptor& exit_event() const { return exit_event_; }

  bool ended() EXCLUDES(mutex_);
  /// "ended with exit status 1", "was killed by SIGKILL"; nothing while it runs.
  std::optional<std::string> how_it_ended() EXCLUDES(mutex_);

  /// Begins to end it: SIGTERM to its group after `patience`, SIGKILL some time after that. The first call
  /// counts. The caller closes its input.
  void end(Duration patience) EXCLUDES(mutex_);
  /// Sends what is due. When to call it again; nothing when there is no more to do or end() was not called.
  std::optional<TimePoint> go_on_ending() EXCLUDES(mutex_);

  static constexpr Duration kill_grace = milliseconds(300);  ///< from SIGTERM to SIGKILL

 private:
  enum class Phase { runs, patient, terminated, killed };

  ExecProcess() = default;
  bool look() REQUIRES(mutex_);

  pid_t pid_ = 0;
  Descriptor input_;
  Descriptor output_;
  Descriptor errors_;
  Descriptor exit_event_;

  Mutex mutex_;
  Phase phase_ GUARDED_BY(mutex_) = Phase::runs;
  TimePoint next_ GUARDED_BY(mutex_);
  std::optional<std::string> how_it_ended_ GUARDED_BY(mutex_);
};

/// Can the file be executed? Error: configuration, naming handler.exec.command.
Status check_program(const std::string& path);

}  // namespace laneway::handler
