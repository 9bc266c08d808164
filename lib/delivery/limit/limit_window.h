// The calls of a short time, added up, so that an adaptive limit decides by many calls and not by one.
//
// A window ends when it has at least ten calls, as many calls as the limit allows at a time, and a tenth of a
// second; a window whose calls vary so much that their average may be chance goes on, up to a second. Calls
// are counted by the time at which they ended: those that began in the window and have ended are the short
// ones, and would show too little. After a change of the limit nothing is counted for a while (settle),
// because the calls that end then waited in a queue that the former limit made. Windows of fewer calls than
// the limit end after ten seconds. If calls are so slow that not even ten end in a minute, a window ends
// then, with at least as many as the limit; if there are so few because hardly any were made, it counts for
// nothing.
//
// The latency of a window is that of the quicker three quarters of its calls (latency_counts.h), unless it
// took ten seconds; after such a window, unless it took five.
//
// If the calls belong to parts that can fail apart, dropped calls count only if more than half of the
// window's parts have some: otherwise they show the state of those parts, and not that there are too many
// calls.
//
// Pure: the time is given in and must not go back. One owner; not thread-safe. Seconds are doubles here.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/time.h"
#include "delivery/limit/latency_counts.h"

namespace laneway::delivery {

/// Calls that ended at about the same time.
struct EndedCalls {
  std::uint32_t worked = 0;
  Duration latency{};  ///< of each
  // Calls that show that there are too many:
  std::uint32_t throttled = 0;    ///< answered "too often" (429)
  std::uint32_t timeouts = 0;     ///< had no answer in time, which is `latency`
  std::uint32_t unavailable = 0;  ///< refused, or answered "not now" (503)
  std::uint32_t in_flight = 0;    ///< calls in flight, these among them
  /// Whose calls these are, if several that can fail apart share the limit; otherwise null. Only compared.
  const void* part = nullptr;

  std::uint32_t dropped() const { return throttled + timeouts + unavailable; }
};

class LimitWindow {
 public:
  struct Sum {
    std::uint64_t worked = 0;
    std::uint64_t throttled = 0;
    std::uint64_t timeouts = 0;
    std::uint64_t unavailable = 0;
    double latency = 0;  ///< of the calls that worked, without the slowest (latency_counts.h); 0 if none did
    double slow = 0;     ///< part of all calls' time by which the slowest exceed `latency`
    /// The average of another such window differs by less, if nothing has changed (two standard errors).
    double noise = 0;
    double variation = 0;  ///< standard deviation of a call's latency, in shares of the average
    double longest_timeout = 0;
    Duration time{};  ///< of the window
    /// Part of the calls' time, also of those that have not ended, that went to dropped calls: the part of
    /// the places that is too many. Refused calls are brief and come again at once, so their number says
    /// little.
    double dropped_share = 0;
    std::uint32_t in_flight = 0;  ///< at most

    std::uint64_t dropped() const { return throttled + timeouts + unavailable; }
    std::uint64_t calls() const { return worked + dropped(); }
  };

  void add(const EndedCalls& calls, TimePoint now);
  /// Whether the window has enough calls.
  bool due(std::uint32_t limit, TimePoint now);
  /// Ends the window; the next one begins.
  Sum close(TimePoint now);
  /// Forgets the window. Calls that end within the time, or within that of an earlier call of settle(), show
  /// an earlier limit.
  void settle(Duration time, TimePoint now);

 private:
  void begin(TimePoint now);
  bool stale(const EndedCalls& calls, TimePoint now) const;
  /// Dropped calls that show that there are too many.
  std::uint64_t dropped() const;
  /// Whether the window is one of those with the average of all calls.
  bool averages_all() const;
  void measure(TimePoint now);
  bool precise(TimePoint now);

  Sum sum_;
  std::unordered_map<const void*, bool> parts_;  // whether calls of the part were dropped
  std::size_t dropping_ = 0;                     // parts of which calls were
  double seconds_ = 0;                           // of the calls that worked
  LatencyCounts latencies_;
  double dropped_seconds_ = 0;  // of the dropped calls
  double running_seconds_ = 0;  // of all calls in flight, the window's time long
  std::uint32_t running_ = 0;   // calls in flight
  TimePoint counted_{};         // until then
  TimePoint begun_{};           // of the window
  TimePoint settled_{};
  bool empty_ = true;
  bool took_long_ = false;  // the window before
};

}  // namespace laneway::delivery
