// `handler.exec`: a program that stays reads records from its standard input and writes a verdict for each to
// its standard output. The frames are in handler/exec/exec_frame.h, the verdicts in
// handler/exec/exec_answer.h.
//
// Each record at work has a program for itself, borrowed from a list that all workers share, the last used
// first: so there are as many programs as records at work at once, started when needed. A program that ends,
// does not answer in time, answers nonsense or more than once is ended with its process group, and its record
// is retried. One that ends without having read the record, and before it ever answered, cannot do its work
// at all: that is `unavailable`, as is one that cannot be started. Where it is this process that lacks
// descriptors, threads or memory, it is `unavailable` with the cause `local`, and starts go on. While
// programs fail and none answers, starting them waits longer and longer, 100 ms up to 30 s.
//
// Threads: any number of workers; one of its own (exec_supervisor.h). Blocks: as long as the program works on
// the record, up to `timeout`, after a wait for a start of up to 30 s; a stop ends that within 20 ms. The
// destructor waits 1.5 s at most for programs to end: their input is closed, then comes SIGTERM, then
// SIGKILL.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "config/config.h"
#include "handler/exec/exec_child.h"
#include "handler/exec/exec_supervisor.h"
#include "handler/handler.h"

namespace laneway::handler {

/// When programs may be started, after some have failed. Pure.
class ExecBackOff {
 public:
  static constexpr Duration longest_delay = seconds(30);

  /// A program answered.
  void answered() { failures_ = 0; }
  /// A program could not be started, or failed without ever answering. Those of one waiting time count once.
  void failed(TimePoint now);
  /// Until then none is started.
  TimePoint until() const { return failures_ == 0 ? TimePoint::min() : until_; }

 private:
  std::uint32_t failures_ = 0;
  TimePoint until_ = TimePoint::min();
};

class ExecHandler final : public RecordHandler {
 public:
  /// Error: configuration, for a program that cannot be executed.
  static Result<std::unique_ptr<Handler>> make(const config::ExecSettings& settings);
  /// What make() would say of the settings. No effects.
  static Status check(const config::ExecSettings& settings);
  ~ExecHandler() override;

  /// The handler's own time-out, from when a program has the record, comes first; this is the net behind it.
  Duration timeout() const override { return settings_.timeout + ExecBackOff::longest_delay + seconds(1); }
  std::string name() const override { return "exec"; }

 protected:
  Outcome handle_record(const Attempt& attempt) override;

 private:
  using Child = std::shared_ptr<ExecChild>;

  explicit ExecHandler(const config::ExecSettings& settings);

  Result<Child> borrow(StopToken stop) EXCLUDES(mutex_);
  Result<Child> start() EXCLUDES(mutex_);
  void give_back(Child child) EXCLUDES(mutex_);
  Outcome give_up(const Child& child, ExecReply reply) EXCLUDES(mutex_);
  Outcome unavailable(std::string reason) EXCLUDES(mutex_);

  const config::ExecSettings settings_;
  std::atomic<std::uint64_t> next_id_{1};
  const std::shared_ptr<ExecErrorLog> error_log_ = std::make_shared<ExecErrorLog>();

  Mutex mutex_;
  Condition given_back_;
  std::vector<Child> idle_ GUARDED_BY(mutex_);
  ExecBackOff back_off_ GUARDED_BY(mutex_);
  std::string last_problem_ GUARDED_BY(mutex_);

  ExecSupervisor supervisor_;  // last: it ends first
};

}  // namespace laneway::handler
