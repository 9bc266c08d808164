#include "handler/log/log_handler.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <system_error>

#include "base/poll.h"
#include "telemetry/escape.h"

namespace laneway::handler {
namespace {

constexpr auto stop_delay = milliseconds(50);  // the longest delay until a stop is noticed

void append_time(std::string& out, std::int64_t ms_since_1970) {
  const std::time_t whole = ms_since_1970 / 1000;
  std::tm utc{};
  std::array<char, 64> text;
  if (ms_since_1970 < 0 || gmtime_r(&whole, &utc) == nullptr) {
    out += '-';
    return;
  }
  out.append(text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc));
  const auto ms = std::to_string(1000 + ms_since_1970 % 1000);
  out += '.';
  out.append(ms, 1);
  out += 'Z';
}

bool writable(int file_descriptor) {
  pollfd wanted{file_descriptor, POLLOUT, 0};
  return poll_for({&wanted, 1}, stop_delay) > 0;
}

}  // namespace

std::string describe_record(const Content& record) {
  std::string line(record.topic());
  line += ':' + std::to_string(record.partition()) + ':' + std::to_string(record.offset()) + ' ';
  append_time(line, record.timestamp());
  if (const auto key = record.key()) {
    line += " key=";
    telemetry::append_text_value(line, *key);
  }
  if (const auto value = record.value()) {
    line += " value=";
    telemetry::append_escaped(line, *value);
  } else {
    line += " tombstone";
  }
  return line;
}

/// One thread's turn to write; the other threads wait, and notice their stop in the meantime.
class LogHandler::Turn {
 public:
  Turn(LogHandler& handler, StopToken stop) : handler_(handler) {
    MutexLock lock(handler_.mutex_);
    while (handler_.writing_) {
      if (stop.stop_requested()) return;
      handler_.released_.wait_until(handler_.mutex_, SteadyClock::now() + stop_delay);
    }
    mine_ = handler_.writing_ = true;
  }
  ~Turn() {
    if (!mine_) return;
    {
      MutexLock lock(handler_.mutex_);
      handler_.writing_ = false;
    }
    handler_.released_.notify_one();
  }
  Turn(const Turn&) = delete;

  bool mine() const { return mine_; }

 private:
  LogHandler& handler_;
  bool mine_ = false;
};

Outcome LogHandler::handle_record(const Attempt& attempt) {
  const std::string line = describe_record(attempt.record) + '\n';
  const Turn turn(*this, attempt.stop);
  if (!turn.mine()) return Outcome::retry("stopped while waiting for standard output");
  return write_line(line, attempt.stop);
}

Outcome LogHandler::write_line(std::string_view line, StopToken stop) {
  if (inside_line_) {
    inside_line_ = false;
    if (auto outcome = write_line("\n", stop); outcome.verdict != Verdict::done) {
      inside_line_ = true;
      return outcome;
    }
  }
  while (!line.empty()) {
    if (stop.stop_requested()) return Outcome::retry("stopped: standard output is not being read");
    if (!writable(file_descriptor_)) continue;
    // A writable pipe accepts this many bytes without blocking.
    const auto written = ::write(file_descriptor_, line.data(), std::min<std::size_t>(line.size(), PIPE_BUF));
    if (written < 0 && errno != EINTR && errno != EAGAIN)
      return Outcome::unavailable("cannot write to standard output: " +
                                  std::generic_category().message(errno));
    if (written > 0) line.remove_prefix(static_cast<std::size_t>(written));
    inside_line_ = !line.empty();
  }
  return Outcome::done();
}

}  // namespace laneway::handler
