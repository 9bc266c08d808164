// The requests of other threads to a consumer loop: stop, call a command with each lane, follow new settings.
//
// Ownership: the loop owns the mailbox; `signal` outlives it. Threads: stop() to follow() may be called from
// any thread, take() and close() only from the loop's. Nothing blocks.
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

/// A command that runs with a lane on its loop's thread; must not block.
using LaneCommand = std::function<void(Lane&, TimePoint now)>;

class LoopMailbox {
 public:
  explicit LoopMailbox(Signal& signal) : signal_(signal) {}

  void stop();
  /// Ends the drain of a stop at once.
  void cut_short();
  bool stop_asked() const { return stops_.load() > 0; }
  bool cut_short_asked() const { return stops_.load() > 1; }

  /// Returns false if the mailbox is closed or already has 64 commands.
  bool post(LaneCommand command) EXCLUDES(mutex_);
  /// The next take() brings nothing new, but the lanes have to look at suspensions.h. This needs no room
  /// among the commands, so a suspension is never refused.
  void suspensions_changed();
  /// Newer settings replace older ones that were not taken yet.
  void follow(std::shared_ptr<const config::Config> settings) EXCLUDES(mutex_);

  struct Contents {
    std::vector<LaneCommand> commands;
    std::shared_ptr<const config::Config> settings;  ///< null if the settings have not changed
  };
  /// Something has arrived since the last take().
  bool has_mail() const { return has_mail_.load(); }
  Contents take() EXCLUDES(mutex_);
  /// Destroys the remaining commands without a call, so their senders notice.
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
