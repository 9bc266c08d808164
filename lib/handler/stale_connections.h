// When an idle connection turned out to be closed by the other side. A server that restarts closes all of its
// connections: a record whose request met one of them would meet the next, and spend its attempts on them.
//
// Shared by all threads of a handler, any of which may call. Nothing blocks.
#pragma once

#include <atomic>

#include "base/time.h"

namespace laneway::handler {

class StaleConnections {
 public:
  void found() { found_.store(now(), std::memory_order_relaxed); }
  /// One was found a moment ago: others that are open may be closed as well.
  bool suspected() const {
    const auto found = found_.load(std::memory_order_relaxed);
    return found != never && now() - found < Duration(moment).count();
  }

 private:
  /// Longer than a close takes to arrive, which libcurl notices by itself.
  static constexpr Duration moment = seconds(1);
  static constexpr Duration::rep never = 0;
  static Duration::rep now() { return SteadyClock::now().time_since_epoch().count(); }

  std::atomic<Duration::rep> found_{never};
};

}  // namespace laneway::handler
