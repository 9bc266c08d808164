// The places for running records of one subscriber (config::Each::workers), which all lanes of the process
// share, in turn.
//
// Each lane has two askers: its new records, and its failed records that are due. A free place goes to the
// asker that has had fewest, and among equals to the one that has waited longest (base/fair_turn.h). So of
// each A places that become free, an asker that goes on asking gets at least one, where A is the number of
// askers: two for each lane that wants places. What an asker does not want goes to the others.
//
// A free place stays free until the asker whose turn it is takes it, so that asker is signalled; an asker
// that does not ask for 0.2 s loses its turn.
//
// Threads: any; a lock is held for nanoseconds, once for a run of records. Nothing blocks.
#pragma once

#include <cstdint>
#include <functional>

#include "base/fair_turn.h"
#include "base/mutex.h"

namespace laneway::lane {

class Places {
 public:
  /// Whoever asks for places, and leaves before its end.
  struct Asker {
    /// A place is free for the asker. Called on any thread, with a lock held: must only signal.
    std::function<void()> signal;
  };

  /// `most`: running records; 0: no limit.
  explicit Places(std::uint32_t most) : most_(most) {}

  /// Replaces the limit; takes effect immediately.
  void set_most(std::uint32_t most) EXCLUDES(mutex_);
  std::uint32_t most() const EXCLUDES(mutex_);
  /// Takes up to `wanted` places for running records; returns how many. If not all, the asker goes on asking.
  std::uint32_t begin(const Asker& asker, std::uint32_t wanted, TimePoint now) EXCLUDES(mutex_);
  /// The asker wants nothing more for now.
  void leave(const Asker& asker) EXCLUDES(mutex_);
  /// Takes places whether they are free or not.
  void take(std::uint32_t records) EXCLUDES(mutex_);
  void end(std::uint32_t records) EXCLUDES(mutex_);
  /// Records that were given to the pool and are not answered.
  std::uint32_t running() const EXCLUDES(mutex_);

 private:
  void call_next() REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::uint32_t most_ GUARDED_BY(mutex_);
  std::uint32_t running_ GUARDED_BY(mutex_) = 0;
  FairTurn<const Asker*> turn_ GUARDED_BY(mutex_){milliseconds(200)};
  TimePoint now_ GUARDED_BY(mutex_){};  // of the last question
};

}  // namespace laneway::lane
