#include "handler/exec/exec_child.h"

#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/poll.h"
#include "handler/exec/exec_answer.h"
#include "telemetry/escape.h"

namespace laneway::handler {
namespace {

/// A reader that went away is EPIPE and no signal, whatever the process does about SIGPIPE. The signal stays
/// blocked in the thread, which is a worker: two system calls less for each record.
void block_broken_pipe_signal() {
  thread_local const int blocked = [] {
    sigset_t broken_pipe;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    return pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
  }();
  static_cast<void>(blocked);
}

ExecReply reply(ExecReply::Kind kind, std::string problem) { return {kind, {}, std::move(problem)}; }

}  // namespace

Result<std::shared_ptr<ExecChild>> ExecChild::start(const config::ExecSettings& settings,
                                                    std::size_t longest_answer,
                                                    std::shared_ptr<ExecErrorLog> log) {
  auto process = ExecProcess::start(settings.command);
  if (!process) return process.error();
  return std::make_shared<ExecChild>(std::move(process).value(), settings.framing, longest_answer,
                                     std::move(log));
}

ExecChild::ExecChild(std::unique_ptr<ExecProcess> process, config::Framing framing,
                     std::size_t longest_answer, std::shared_ptr<ExecErrorLog> log)
    : process_(std::move(process)),
      framing_(framing),
      errors_(process_->errors().number(), process_->pid(), std::move(log)),
      reader_(framing, longest_answer) {}

ExecReply ExecChild::exchange(std::string& frame, std::uint64_t id, const Content* record, Deadline deadline,
                              StopToken stop) {
  switch (read_some()) {
    case Progress::closed:
      return broken(0, stop);
    case Progress::something:
      return unasked();
    case Progress::nothing:
      break;
  }
  const std::size_t size = frame.size();
  std::size_t written = 0;
  bool gave_way = false;
  for (;;) {
    if (written < size) {
      if (write_some(frame, written) == Progress::closed) return broken(written, stop);
      if (written == size) std::string().swap(frame);  // clear() and an assignment keep the memory
    }
    // A program that the record has woken mostly waits for this very core. One that answers at once has done
    // so when the core comes back: then nobody has slept and nobody has to be woken.
    if (written == size && !std::exchange(gave_way, true)) {
      ::sched_yield();
    } else if (const Wait waited = wait(written < size, deadline, stop); waited == Wait::stopped) {
      return reply(ExecReply::Kind::stopped, "stopped while waiting for the program's answer");
    } else if (waited == Wait::timed_out) {
      return timed_out(written == size);
    }
    if (read_some() == Progress::closed) return broken(written, stop);
    if (reader_.state() != ExecFrameReader::State::incomplete) return judge(written == size, id, record);
  }
}

ExecChild::Progress ExecChild::write_some(std::string_view frame, std::size_t& written) {
  block_broken_pipe_signal();
  const std::string_view rest = frame.substr(written);
  const ssize_t size = ::write(process_->input().number(), rest.data(), rest.size());
  if (size < 0) return errno == EAGAIN || errno == EINTR ? Progress::nothing : Progress::closed;
  written += static_cast<std::size_t>(size);
  return Progress::something;
}

ExecChild::Progress ExecChild::read_some() {
  std::array<char, 16 * 1024> buffer;
  const ssize_t size = ::read(process_->output().number(), buffer.data(), buffer.size());
  if (size < 0) return errno == EAGAIN || errno == EINTR ? Progress::nothing : Progress::closed;
  if (size == 0) return Progress::closed;
  reader_.feed({buffer.data(), static_cast<std::size_t>(size)});
  return Progress::something;
}

ExecChild::Wait ExecChild::wait(bool to_write, Deadline deadline, StopToken stop) const {
  std::array<pollfd, 2> events{
      {{process_->output().number(), POLLIN, 0}, {to_write ? process_->input().number() : -1, POLLOUT, 0}}};
  for (;;) {
    if (stop.stop_requested()) return Wait::stopped;
    const Duration left = deadline.left();
    if (poll_for(events, std::min(left, exec_stop_delay)) > 0) return Wait::ready;
    if (left == Duration::zero()) return Wait::timed_out;
  }
}

/// Judges the bytes read: a whole answer, or too many. `written`: the whole record was written.
ExecReply ExecChild::judge(bool written, std::uint64_t id, const Content* record) {
  if (reader_.state() == ExecFrameReader::State::too_long)
    return reply(ExecReply::Kind::failed, "the program's answer is longer than " +
                                              std::to_string(reader_.longest()) +
                                              " bytes: " + telemetry::excerpt(reader_.pending()));
  if (!written)
    return reply(ExecReply::Kind::failed, "the program answered before it had read the whole record: " +
                                              telemetry::excerpt(reader_.frame()));
  auto outcome = exec_answer(framing_, reader_.frame(), id, record);
  if (!outcome) return reply(ExecReply::Kind::failed, "the program's answer " + outcome.error().message);
  reader_.take();
  if (!reader_.empty())
    return reply(ExecReply::Kind::failed,
                 "the program wrote more than one answer: " + telemetry::excerpt(reader_.pending()));
  ++answers_;
  return {ExecReply::Kind::answered, std::move(outcome).value(), ""};
}

/// An end of a pipe is closed, by the program's end or by itself.
ExecReply ExecChild::broken(std::size_t written, StopToken stop) {
  std::string problem = "the program " + how_it_broke(stop) + " before it answered";
  int unread = 0;
  const bool known = ::ioctl(process_->input().number(), FIONREAD, &unread) == 0;
  const bool untouched = known && static_cast<std::size_t>(unread) == written;
  if (untouched) problem += ", without reading the record";
  errors_.drain();
  errors_.drain();  // behind a full pipe comes its end
  if (const auto line = errors_.last_line(); !line.empty())
    problem += "; the last line of its standard error: " + line;
  return reply(untouched ? ExecReply::Kind::not_taken : ExecReply::Kind::failed, std::move(problem));
}

std::string ExecChild::how_it_broke(StopToken stop) {
  const auto deadline = Deadline::in(exec_exit_patience);
  while (!deadline.passed() && !stop.stop_requested())
    if (poll_until(process_->exit_event().number(), POLLIN, Deadline::in(exec_stop_delay)) != 0) break;
  return process_->how_it_ended().value_or("closed its standard input or output");
}

ExecReply ExecChild::unasked() {
  return reply(ExecReply::Kind::not_taken, "the program wrote output although it had no record: " +
                                               telemetry::excerpt(reader_.pending()));
}

/// A program that works and keeps its answers in a buffer looks like one that hangs.
ExecReply ExecChild::timed_out(bool written) const {
  std::string problem = "the program did not answer in time and was killed";
  if (!written)
    problem += "; it had not read the whole record";
  else if (!reader_.empty())
    problem += framing_ == config::Framing::json
                   ? "; it had written part of an answer, without the end of the line: "
                   : "; it had written part of an answer: ";
  else if (answers_ == 0)
    problem +=
        "; it has never answered: if it writes answers, it must flush its standard output after each "
        "(Python: print(answer, flush=True))";
  if (!reader_.empty()) problem += telemetry::excerpt(reader_.pending());
  return reply(ExecReply::Kind::timed_out, std::move(problem));
}

void ExecChild::end(Duration patience) {
  process_->end(patience);
  process_->input().close();
  process_->output().close();
}

}  // namespace laneway::handler
