// The border between the services of a story and the Kafka client, as a witness, and as a place for bugs: the
// linker leads the calls of the client's functions in this program through tapped_client.cpp (CMakeLists.txt
// has the list). Calls of clients and about topics that belong to no story go through unchanged.
//
// A member that is abandoned is what a killed process would be: nothing that it commits or writes from then
// on reaches the brokers.
#pragma once

#include <atomic>
#include <set>
#include <string>

#include "base/mutex.h"
#include "stories/facts.h"

namespace laneway::stories {

/// The tap of one story, for its life. Its clients have a client.id that is `name` and a member's number, its
/// topics have names that begin with `name`.
class Tap {
 public:
  Tap(std::string name, Facts& facts);
  ~Tap();
  Tap(const Tap&) = delete;

  void abandon(const std::string& member) EXCLUDES(mutex_);
  bool abandoned(const std::string& member) const EXCLUDES(mutex_);

  void lose_coordinator() { coordinator_lost_ = true; }
  bool coordinator_lost() const { return coordinator_lost_; }

  Facts& facts() { return facts_; }
  Bug bug() const { return facts_.story().bug; }
  const std::string& name() const { return name_; }
  /// True once in so many calls.
  bool once_in(std::uint32_t calls) { return calls_.fetch_add(1) % calls == calls - 1; }

 private:
  const std::string name_;
  Facts& facts_;
  std::atomic<std::uint32_t> calls_{0};
  std::atomic<bool> coordinator_lost_{false};
  mutable Mutex mutex_;
  std::set<std::string> abandoned_ GUARDED_BY(mutex_);
};

}  // namespace laneway::stories
