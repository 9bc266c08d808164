#include "handler/exec/exec_handler.h"

#include <algorithm>
#include <utility>

#include "base/poll.h"
#include "telemetry/log.h"

namespace laneway::handler {
namespace {

constexpr Duration first_delay = milliseconds(100);
constexpr Duration reach_patience = seconds(2);

/// Waits until the process has ended, or until `deadline`. Reads its standard error, so that the process does
/// not block.
void wait_for_end(ExecChild& child, Deadline deadline) {
  do {
    child.errors().drain();
  } while (poll_until(child.process().exit_event().number(), POLLIN, Deadline::in(exec_stop_delay)) == 0 &&
           !deadline.passed());
  child.errors().drain();
}

}  // namespace

/// The first failure costs no wait: a program may well end over one record.
void ExecBackOff::failed(TimePoint now) {
  if (failures_ > 0 && now < until_) return;
  const auto doublings = std::min<std::uint32_t>(failures_, 16);
  until_ = now + (failures_ == 0 ? Duration::zero()
                                 : std::min<Duration>(ExecBackOff::longest_delay,
                                                      first_delay * (1U << (doublings - 1))));
  ++failures_;
}

Status ExecHandler::check(const config::ExecSettings& settings) {
  if (settings.command.empty())
    return Error{ErrorKind::configuration, "handler.exec.command is empty", "name a program"};
  return check_program(settings.command.front());
}

Result<std::string> ExecHandler::reach(const config::ExecSettings& settings, Duration timeout) {
  const std::string& program = settings.command.front();
  if (const auto status = check_program(program); !status) return status.error();
  auto started = ExecChild::start(settings, longest_exec_answer, std::make_shared<ExecErrorLog>());
  if (!started) return started.error();
  ExecChild& child = **started;
  child.process().input().close();
  wait_for_end(child, Deadline::in(std::min(timeout, reach_patience)));
  const auto how = child.process().how_it_ended();
  if (!how) return program + " starts";
  if (*how == "ended with exit status 0") return program + " starts, and ends when its input ends";
  const auto line = child.errors().last_line();
  return Error{
      ErrorKind::unavailable,
      "handler.exec.command: " + program + " received no record and " + *how +
          (line.empty() ? "" : "; the last line of its standard error: " + line),
      "correct the program or its arguments; a program must exit with status 0 at the end of its input"};
}

Result<std::unique_ptr<Handler>> ExecHandler::make(const config::ExecSettings& settings, bool passes_on) {
  if (const auto status = check(settings); !status) return status.error();
  return std::unique_ptr<Handler>(new ExecHandler(settings, passes_on));
}

ExecHandler::ExecHandler(const config::ExecSettings& settings, bool passes_on)
    : settings_(settings), passes_on_(passes_on), supervisor_(error_log_, [this] { end_unused(); }) {}

ExecHandler::~ExecHandler() {
  MutexLock lock(mutex_);
  for (const Idle& idle : idle_) supervisor_.end(*idle.child, exec_exit_patience);
  idle_.clear();
}

Outcome ExecHandler::handle_record(const Attempt& attempt) {
  const auto id = next_id_.fetch_add(1, std::memory_order_relaxed);
  std::string frame;
  for (;;) {
    const auto child = borrow(attempt.stop);
    if (!child && child.error().kind == ErrorKind::exhausted) return Outcome::local(child.error().message);
    if (!child) return unavailable(child.error().message);
    if (frame.empty()) frame = exec_frame(settings_.framing, id, attempt);
    const bool proven = (*child)->proven();
    auto reply = (*child)->exchange(frame, id, passes_on_ ? &attempt.record : nullptr,
                                    Deadline::in(settings_.timeout), attempt.stop);
    if (reply.kind == ExecReply::Kind::answered) {
      give_back(*child);
      return std::move(reply.outcome);
    }
    const bool ended_idle = reply.kind == ExecReply::Kind::not_taken && proven;
    auto outcome = give_up(*child, std::move(reply));
    if (!ended_idle) return outcome;  // else the record has seen no program yet
  }
}

/// Waits while starts are backed off: answered at once, one record after the other would come to nothing.
Result<ExecHandler::Child> ExecHandler::borrow(StopToken stop) {
  const auto deadline = Deadline::in(ExecBackOff::longest_delay);
  {
    MutexLock lock(mutex_);
    for (;;) {
      if (!idle_.empty()) {
        auto child = std::move(idle_.back().child);
        idle_.pop_back();
        return child;
      }
      const auto now = SteadyClock::now();
      if (now >= back_off_.until()) break;
      if (deadline.passed() || stop.stop_requested())
        return Error{ErrorKind::unavailable, "waited for another start, because " + last_problem_, ""};
      given_back_.wait_until(mutex_, std::min(back_off_.until(), now + exec_stop_delay));
    }
  }
  return start();
}

Result<ExecHandler::Child> ExecHandler::start() {
  auto child =
      ExecChild::start(settings_, passes_on_ ? longest_exec_results : longest_exec_answer, error_log_);
  if (child) {
    supervisor_.add(*child);
    telemetry::debug("exec program started", {{"pid", (*child)->process().pid()}});
    return child;
  }
  telemetry::log_repeating(telemetry::Level::warn, "exec start: " + child.error().message,
                           "exec program cannot be started", {{"error", child.error().message}});
  if (child.error().kind == ErrorKind::exhausted) return child;  // no fault of the program's
  MutexLock lock(mutex_);
  back_off_.failed(SteadyClock::now());
  last_problem_ = child.error().message;
  return child;
}

/// Whether another program is to take its place.
bool ExecHandler::worn(const ExecChild& child, TimePoint now) const {
  return (settings_.max_records > 0 && child.answers() >= settings_.max_records) ||
         (settings_.max_age > Duration::zero() && now - child.started_at() >= settings_.max_age);
}

void ExecHandler::give_back(Child child) {
  const auto now = SteadyClock::now();
  const bool ends = worn(*child, now);
  if (ends) supervisor_.end(*child, exec_exit_patience);
  {
    MutexLock lock(mutex_);
    back_off_.answered();
    if (!ends) idle_.push_back({std::move(child), now});
  }
  given_back_.notify_one();
}

/// Ends the programs that have been idle for too long, and those that are to be replaced anyway.
void ExecHandler::end_unused() {
  const auto now = SteadyClock::now();
  MutexLock lock(mutex_);
  const auto ended = [&](const Idle& idle) {
    if (now - idle.since < settings_.idle && !worn(*idle.child, now)) return false;
    telemetry::debug("exec program ended, unused", {{"pid", idle.child->process().pid()}});
    supervisor_.end(*idle.child, exec_exit_patience);
    return true;
  };
  idle_.erase(std::remove_if(idle_.begin(), idle_.end(), ended), idle_.end());
}

/// Ends a program that is of no more use; what that means for the record.
Outcome ExecHandler::give_up(const Child& child, ExecReply reply) {
  supervisor_.end(*child, Duration::zero());
  if (reply.kind == ExecReply::Kind::stopped) return Outcome::retry(std::move(reply.problem));
  telemetry::log_repeating(telemetry::Level::warn, "exec failed", "exec program failed",
                           {{"pid", child->process().pid()}, {"error", reply.problem}});
  if (!child->proven()) {
    MutexLock lock(mutex_);
    back_off_.failed(SteadyClock::now());
    last_problem_ = reply.problem;
  }
  if (reply.kind == ExecReply::Kind::not_taken) return unavailable(std::move(reply.problem));
  if (reply.kind == ExecReply::Kind::timed_out) return Outcome::timeout(std::move(reply.problem));
  return Outcome::retry(std::move(reply.problem));
}

/// The next attempt is when a program may be started.
Outcome ExecHandler::unavailable(std::string reason) {
  MutexLock lock(mutex_);
  const TimePoint now = SteadyClock::now();
  const TimePoint until = back_off_.until();
  if (until <= now) return Outcome::unavailable(std::move(reason));
  return Outcome::unavailable(std::move(reason), until - now);
}

}  // namespace laneway::handler
