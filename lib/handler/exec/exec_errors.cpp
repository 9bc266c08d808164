#include "handler/exec/exec_errors.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "telemetry/escape.h"
#include "telemetry/log.h"

namespace laneway::handler {
namespace {

constexpr std::size_t longest_line = 1024;
constexpr std::size_t longest_in_reason = 200;
constexpr int most_reads = 16;  // a program that writes without end does not keep others waiting

}  // namespace

void ExecErrorLog::write(pid_t pid, std::string_view line) {
  report(false);
  {
    MutexLock lock(mutex_);
    if (!limiter_.admit("", SteadyClock::now())) return;
  }
  telemetry::info("exec standard error", {{"pid", pid}, {"line", line}});
}

void ExecErrorLog::report(bool everything) {
  std::uint64_t left_out = 0;
  {
    MutexLock lock(mutex_);
    for (const auto& repeated : limiter_.take_over(SteadyClock::now(), everything))
      left_out += repeated.left_out;
  }
  if (left_out > 0) telemetry::info("exec standard error, lines left out", {{"lines", left_out}});
}

bool ExecErrorStream::drain() {
  MutexLock lock(mutex_);
  std::array<char, 4096> buffer{};
  for (int i = 0; i < most_reads && !at_end_; ++i) {
    const auto size = ::read(fd_, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return true;
    at_end_ = size <= 0;
    if (size > 0) take({buffer.data(), static_cast<std::size_t>(size)});
  }
  if (at_end_) end_line();
  return !at_end_;
}

/// Drops the part of a line beyond the longest line.
void ExecErrorStream::take(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto end = std::min(bytes.find('\n'), bytes.size());
    const auto room = longest_line + 1 - std::min(line_.size(), longest_line + 1);
    line_ += bytes.substr(0, std::min(end, room));
    if (end == bytes.size()) return;
    end_line();
    bytes.remove_prefix(end + 1);
  }
}

void ExecErrorStream::end_line() {
  if (line_.find_first_not_of(" \t\r") != line_.npos) {
    last_ = telemetry::excerpt(line_, longest_in_reason);
    if (line_.size() > longest_line) line_.replace(longest_line, line_.npos, "...");
    log_->write(pid_, line_);
  }
  line_.clear();
}

int ExecErrorStream::open_descriptor() {
  MutexLock lock(mutex_);
  return at_end_ ? -1 : fd_;
}

std::string ExecErrorStream::last_line() {
  MutexLock lock(mutex_);
  return line_.empty() ? last_ : telemetry::excerpt(line_, longest_in_reason);
}

}  // namespace laneway::handler
