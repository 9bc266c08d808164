// One process started for `handler.exec`: its pipes, its exit, and how to end it.
//
// The process leads a process group of its own and starts with no signal blocked or ignored. It has our
// environment without laneway's own variables (LANEWAY_*, the service manager's notification socket), only
// its three pipes of our descriptors, and the limit of open files that we inherited. Our ends of the pipes do
// not block. When the process has ended, the rest of its group is killed before the group's number can be
// reused.
//
// Threads: one thread at a time for input and output; any for the rest. Blocks: start(), until the program is
// loaded.
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
  /// `command`: an absolute path and arguments. Error: unavailable, with the system's reason; exhausted, if
  /// this process has no descriptors or may not have more processes.
  static Result<std::unique_ptr<ExecProcess>> start(const std::vector<std::string>& command);
  /// Kills the process if it has not ended.
  ~ExecProcess();
  ExecProcess(const ExecProcess&) = delete;
  ExecProcess& operator=(const ExecProcess&) = delete;

  pid_t pid() const { return pid_; }
  Descriptor& input() { return input_; }    ///< the standard input of the process
  Descriptor& output() { return output_; }  ///< the standard output of the process
  const Descriptor& errors() const { return errors_; }
  /// Readable when the process has ended.
  const Descriptor& exit_event() const { return exit_event_; }

  bool ended() EXCLUDES(mutex_);
  /// "ended with exit status 1", "was killed by SIGKILL"; nullopt while the process runs.
  std::optional<std::string> how_it_ended() EXCLUDES(mutex_);

  /// Begins to end the process: SIGTERM to its group after `patience`, SIGKILL some time after that. Only the
  /// first call counts. The caller closes the input of the process.
  void end(Duration patience) EXCLUDES(mutex_);
  /// Sends the signals that are due. Returns when to call again; nullopt if nothing remains to be done or
  /// end() was not called.
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

/// Checks that the file can be executed. Error: configuration, naming handler.exec.command.
Status check_program(const std::string& path);

}  // namespace laneway::handler
