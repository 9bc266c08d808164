#include "handler/exec/exec_reach.h"

#include <algorithm>
#include <memory>

#include "base/poll.h"
#include "handler/exec/exec_child.h"

namespace laneway::handler {
namespace {

constexpr Duration patience = seconds(2);

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

Result<std::string> reach_program(const config::ExecSettings& settings, Duration timeout) {
  const std::string& program = settings.command.front();
  if (const auto status = check_program(program); !status) return status.error();
  auto started = ExecChild::start(settings, longest_exec_answer, std::make_shared<ExecErrorLog>());
  if (!started) return started.error();
  ExecChild& child = **started;
  child.process().input().close();
  wait_for_end(child, Deadline::in(std::min(timeout, patience)));
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

}  // namespace laneway::handler
