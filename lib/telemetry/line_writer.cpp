#include "telemetry/line_writer.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/poll.h"

namespace laneway::telemetry {
namespace {

bool writable(int file_descriptor, Deadline deadline) {
  const short found = poll_until(file_descriptor, POLLOUT, deadline);
  return (found & POLLOUT) != 0 && (found & POLLNVAL) == 0;
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
