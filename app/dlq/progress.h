// A bar on standard error during a redrive; nothing if standard error is not a terminal.
//
// Threads: one. Blocks as long as the terminal blocks.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace laneway::dlq {

/// "[=====>    ]  42 %  1234 sent, 250/s, 20 s left", at most 79 characters. `done` of `all` offsets. Pure.
std::string progress_line(std::uint64_t done, std::uint64_t all, std::uint64_t sent, Duration elapsed);

class Progress {
 public:
  explicit Progress(std::uint64_t all);
  /// Removes the bar.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Draws the bar if the last drawing is long enough ago.
  void show(std::uint64_t done, std::uint64_t sent);

 private:
  const bool terminal_;
  const std::uint64_t all_;
  const TimePoint start_ = SteadyClock::now();
  TimePoint next_ = start_;
  bool drawn_ = false;
};

}  // namespace laneway::dlq
