// Writes whole lines to a file descriptor without ever waiting long for its reader.
//
// One thread at a time; the caller owns the descriptor, and its flags are not changed (it is shared with the
// shell that started the process). Before each piece, poll(2) reports whether a write would block; pieces are
// no larger than PIPE_BUF, which a writable pipe always accepts.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/time.h"

namespace laneway::telemetry {

class LineWriter {
 public:
  explicit LineWriter(int file_descriptor, Duration patience = milliseconds(200))
      : file_descriptor_(file_descriptor), patience_(patience) {}

  /// Returns false if the line was not written completely: the reader did not take it within the patience, or
  /// there is no reader. After a failure, further lines do not wait at all until one is written.
  bool write(std::string_view line);
  /// Failures since the last call; does not reset the lack of patience.
  std::uint64_t take_lost();

 private:
  bool write_piecewise(std::string_view line, Deadline deadline);

  int file_descriptor_;
  Duration patience_;
  std::uint64_t lost_ = 0;
  bool blocked_ = false;
  bool inside_line_ = false;  // the last line was cut by a failure
};

}  // namespace laneway::telemetry
