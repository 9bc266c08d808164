// What other threads ask of a consumer loop: to stop, to call a command with each lane, to follow new
// settings.
//
// Ownership: the loop owns the mailbox; `signal` outlives it. Threads: stop() to follow() are called from
// any, take() and close() by the loop's thread. Nothing blocks.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/signal.h"
#include "base/time.h"
#include "config/config.h"

namespace laneway::lane {

class Lane;

/// Something to be done with a lane on its loop's thread; must not block.
using LaneCommand = std::function<void(Lane&, TimePoint now)>;

class LoopMailbox {
 public:
  explicit LoopMailbox(Signal& signal) : signal_(signal) {}

  void stop();
  /// Ends the drain of a stop at once.
  void cut_short();
  bool stop_asked() const { return stops_.load() > 0; }
  bool cut_short_asked() const { return stops_.load() > 1; }

  /// False when the mailbox is closed, or has 64 commands already.
  bool post(LaneCommand command) EXCLUDES(mutex_);
  /// The next take() brings nothing new, but the lanes have to look at hand_pauses.h. This needs no room
  /// among the commands, so a pause is never refused.
  void hand_pauses_changed();
  /// Of several settings the last ones count.
  void follow(std::shared_ptr<const config::Config> settings) EXCLUDES(mutex_);

  struct Contents {
    std::vector<LaneCommand> commands;
    std::shared_ptr<const config::Config> settings;  ///< null: they have not changed
  };
  /// Something has come since the last take().
  bool has_mail() const { return has_mail_.load(); }
  Contents take() EXCLUDES(mutex_);
  /// Commands that are left are destroyed without a call, so whoever waits for one learns of it.
  void close() EXCLUDES(mutex_);

 private:
  void notify();

  Signal& signal_;
  std::atomic<int> stops_{0};  // 1: draining, 2: cut short
  std::atomic<bool> has_mail_{false};
  Mutex mutex_;
  Contents contents_ GUARDED_BY(mutex_);
  bool closed_ GUARDED_BY(mutex_) = false;
};

}  // namespace laneway::lane
