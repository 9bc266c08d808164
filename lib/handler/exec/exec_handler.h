// `handler.exec`: a long-running program reads records from its standard input and writes a verdict for each
// to its standard output. The frames are in handler/exec/exec_frame.h, the verdicts in
// handler/exec/exec_answer.h.
//
// Each running record has a program to itself, borrowed from a list that all workers share, the last used
// first. There are as many programs as records that run at once; programs are started when needed, and ended
// when they have been idle for `idle`. After `max_records` or `max_age` a program is replaced. Both happen
// only between two records: the program has answered, its input is closed, and it has 500 ms to end. A
// program that ends, does not answer in time, or answers invalidly or more than once is ended with its
// process group, and its record is retried. A program that ends without having read the record, and before it
// ever answered, cannot do its work at all: the outcome is `unavailable`, as for a program that cannot be
// started. If this process lacks descriptors, threads or memory, the outcome is `unavailable` with the cause
// `local`, and starts continue. While programs fail and none answers, the wait before each start grows from
// 100 ms to 30 s.
//
// Threads: any number of workers; one of its own (exec_supervisor.h). Blocks: as long as the program works on
// the record, up to `timeout`, after a wait for a start of up to 30 s; a stop ends the wait within 20 ms. The
// destructor waits at most 1.5 s for programs to end: their input is closed, then comes SIGTERM, then
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

/// Decides when programs may be started after some have failed. Pure.
class ExecBackOff {
 public:
  static constexpr Duration longest_delay = seconds(30);

  /// A program answered.
  void answered() { failures_ = 0; }
  /// A program could not be started, or failed without ever answering. Failures during one waiting time count
  /// once.
  void failed(TimePoint now);
  /// No program is started before this time.
  TimePoint until() const { return failures_ == 0 ? TimePoint::min() : until_; }

 private:
  std::uint32_t failures_ = 0;
  TimePoint until_ = TimePoint::min();
};

class ExecHandler final : public RecordHandler {
 public:
  /// Error: configuration, for a program that cannot be executed.
  /// `passes_on`: answers may have results, which go to another pool.
  static Result<std::unique_ptr<Handler>> make(const config::ExecSettings& settings, bool passes_on = false);
  /// Returns the error that make() would return for these settings. No side effects.
  static Status check(const config::ExecSettings& settings);
  /// Starts the program, closes its input without a record, and waits for its end. A program that has not
  /// ended after 2 s, or `timeout`, is ended and counts as working. Blocks up to `timeout`, and as long as
  /// ExecProcess takes to end the program. Errors: unavailable, for a program that ends with another exit
  /// status than 0; configuration, for a program that cannot be executed.
  static Result<std::string> reach(const config::ExecSettings& settings, Duration timeout);
  ~ExecHandler() override;

  /// The handler's own time-out, which begins when a program has the record, comes first; this time-out is a
  /// safety net.
  Duration timeout() const override { return settings_.timeout + ExecBackOff::longest_delay + seconds(1); }
  std::string name() const override { return "exec"; }

 protected:
  Outcome handle_record(const Attempt& attempt) override;

 private:
  using Child = std::shared_ptr<ExecChild>;
  struct Idle {
    Child child;
    TimePoint since;
  };

  ExecHandler(const config::ExecSettings& settings, bool passes_on);

  Result<Child> borrow(StopToken stop) EXCLUDES(mutex_);
  Result<Child> start() EXCLUDES(mutex_);
  void give_back(Child child) EXCLUDES(mutex_);
  Outcome give_up(const Child& child, ExecReply reply) EXCLUDES(mutex_);
  Outcome unavailable(std::string reason) EXCLUDES(mutex_);
  bool worn(const ExecChild& child, TimePoint now) const;
  void end_unused() EXCLUDES(mutex_);

  const config::ExecSettings settings_;
  const bool passes_on_;
  std::atomic<std::uint64_t> next_id_{1};
  const std::shared_ptr<ExecErrorLog> error_log_ = std::make_shared<ExecErrorLog>();

  Mutex mutex_;
  Condition given_back_;
  std::vector<Idle> idle_ GUARDED_BY(mutex_);  // the longest idle first
  ExecBackOff back_off_ GUARDED_BY(mutex_);
  std::string last_problem_ GUARDED_BY(mutex_);

  ExecSupervisor supervisor_;  // last, so that it ends first
};

}  // namespace laneway::handler
