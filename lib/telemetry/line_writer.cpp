#include "telemetry/line_writer.h"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace laneway::telemetry {
namespace {

bool writable(int file_descriptor, Deadline deadline) {
  for (;;) {
    pollfd wanted{file_descriptor, POLLOUT, 0};
    const auto left = std::chrono::ceil<milliseconds>(deadline.left());
    const int ready = ::poll(&wanted, 1, static_cast<int>(left.count()));
    if (ready > 0) return (wanted.revents & POLLOUT) != 0 && (wanted.revents & POLLNVAL) == 0;
    if (ready == 0 || errno != EINTR) return false;
  }
}

}  // namespace

bool LineWriter::write(std::string_view line) {
  const Deadline deadline = Deadline::in(blocked_ ? Duration::zero() : patience_);
  const bool whole = (!inside_line_ || write_piecewise("\n", deadline)) && write_piecewise(line, deadline);
  blocked_ = !whole;
  if (!whole) ++lost_;
  return whole;
}

std::uint64_t LineWriter::take_lost() { return std::exchange(lost_, 0); }

bool LineWriter::write_piecewise(std::string_view line, Deadline deadline) {
  while (!line.empty()) {
    if (!writable(file_descriptor_, deadline)) return false;
    const auto piece = line.substr(0, std::min<std::size_t>(line.size(), PIPE_BUF));
    const auto written = ::write(file_descriptor_, piece.data(), piece.size());
    if (written < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (written > 0) {
      line.remove_prefix(static_cast<std::size_t>(written));
      inside_line_ = !line.empty();
    }
  }
  return true;
}

}  // namespace laneway::telemetry
