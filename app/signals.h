// SIGTERM, SIGINT and SIGHUP as calls on a thread of their own, where everything is allowed.
//
// Threads: `on_signal` runs on that thread, which also reports repeated log lines while it waits.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "base/time.h"

namespace laneway::app {

/// What follows a signal this soon is the same wish: timeout(1), and shells that signal a group, send twice.
inline constexpr Duration same_wish = milliseconds(500);

/// Before the process starts any thread: threads inherit that these signals are not theirs.
void block_signals();

class Signals {
 public:
  explicit Signals(std::function<void(int signal)> on_signal);
  /// Waits for a call that is under way; signals that come later do nothing.
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  void take();

  const std::function<void(int signal)> on_signal_;
  std::atomic<bool> ended_{false};
  std::thread thread_;  // last: it uses the others
};

}  // namespace laneway::app
