// Waits for file descriptors, with poll(2).
//
// Threads: any. Blocks: for the given time, and up to a millisecond longer, so that no wait ends just before
// its time and must begin again.
#pragma once

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <span>

#include "base/time.h"

namespace laneway {

/// The time as poll(2) and epoll_wait(2) expect it: whole milliseconds, rounded up; 0 for a time that is
/// over.
inline int poll_time(Duration at_most) {
  constexpr std::int64_t longest = std::numeric_limits<int>::max();
  const auto ms = std::chrono::ceil<milliseconds>(at_most).count();
  return static_cast<int>(std::clamp<std::int64_t>(ms, 0, longest));
}

/// Waits for an event on one of `wanted`. Returns how many of them have an event in `revents`; 0 if none came
/// in time; -1 if a signal came, or on an error (errno).
inline int poll_for(std::span<pollfd> wanted, Duration at_most) {
  return ::poll(wanted.data(), wanted.size(), poll_time(at_most));
}

/// Waits for an event on one descriptor, whatever signals come. Returns the event, of `events` or an error; 0
/// if none came in time, or if poll failed.
inline short poll_until(int descriptor, short events, Deadline deadline) {
  pollfd wanted{descriptor, events, 0};
  for (;;) {
    const int ready = poll_for({&wanted, 1}, deadline.left());
    if (ready > 0) return wanted.revents;
    if (ready == 0 || errno != EINTR) return 0;
  }
}

}  // namespace laneway
