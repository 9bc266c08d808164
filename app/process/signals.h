// Turns SIGTERM, SIGINT, SIGHUP and SIGUSR1 into calls on a thread of their own, where everything is allowed.
//
// Threads: `on_signal` runs on that thread, which also logs the counts of repeated log lines while it waits.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "base/time.h"

namespace laneway::app {

/// A signal that follows another one this soon is the same request: timeout(1), and shells that signal a
/// group, send signals twice.
inline constexpr Duration same_wish = milliseconds(500);

/// Call it before the process starts any thread: threads inherit the mask of blocked signals.
void block_signals();

class Signals {
 public:
  explicit Signals(std::function<void(int signal)> on_signal);
  /// Waits for a running call. Later signals do nothing.
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
