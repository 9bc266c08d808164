#include "app/dlq/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace laneway::dlq {

std::string progress_line(std::uint64_t done, std::uint64_t all, std::uint64_t sent, Duration elapsed) {
  constexpr std::size_t width = 28;
  const double part = all == 0 ? 1 : std::min(1.0, static_cast<double>(done) / static_cast<double>(all));
  const auto filled = static_cast<std::size_t>(part * width);
  const double passed = to_seconds(elapsed);
  std::string bar(filled, '=');
  if (filled < width) bar += '>';
  bar.resize(width, ' ');
  char numbers[160];
  std::snprintf(numbers, sizeof numbers, "] %3.0f %%  %llu sent", std::floor(100 * part),
                static_cast<unsigned long long>(sent));
  auto line = "[" + bar + numbers;
  if (passed >= 1 && part > 0) {
    std::snprintf(numbers, sizeof numbers, ", %.0f/s, %.0f s left", static_cast<double>(sent) / passed,
                  passed / part - passed);
    line += numbers;
  }
  return line.substr(0, 79);
}

Progress::Progress(std::uint64_t all) : terminal_(::isatty(STDERR_FILENO) != 0), all_(all) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::show(std::uint64_t done, std::uint64_t sent) {
  const auto now = SteadyClock::now();
  if (!terminal_ || now < next_) return;
  next_ = now + milliseconds(125);
  drawn_ = true;
  std::fprintf(stderr, "\r%s\033[K", progress_line(done, all_, sent, now - start_).c_str());
}

}  // namespace laneway::dlq
