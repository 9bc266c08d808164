// The members of a story: the services of one group, which are started, stopped and abandoned while the story
// lasts. Judges how each of them ends.
//
// Ownership: the members live as long as this. Threads: any. Blocks while a member starts or stops.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "service/service.h"
#include "stories/member_settings.h"
#include "stories/work.h"

namespace laneway::stories {

constexpr Duration busy_machine = seconds(5);  // what a machine that is busy with other stories may add

/// One service of the group.
struct Member {
  std::string name;
  std::unique_ptr<service::Service> service;
  std::thread waits;
  std::atomic<bool> running{false};  // it has started, and nobody has stopped it
  std::atomic<bool> ended{false};
  service::Ended how;  // once it has ended
};

class Members {
 public:
  Members(const Story& story, Group group, Facts& facts, Tap& tap, Downstream& downstream)
      : story_(story), group_(std::move(group)), facts_(facts), tap_(tap), downstream_(downstream) {}

  config::Config config(const std::string& member) const { return settings_of(story_, group_, member); }
  /// Starts one more; null if it does not start.
  Member* join() EXCLUDES(mutex_);
  void end(Member& member, bool abandon = false);
  std::vector<Member*> running() EXCLUDES(mutex_);
  /// Any of those that run; null if none does.
  Member* chosen(std::uint32_t choice) EXCLUDES(mutex_);
  /// Whether a member hangs in the client.
  bool left_behind() const { return left_behind_; }

 private:
  std::unique_ptr<handler::Handler> handler(const std::string& member);

  const Story& story_;
  const Group group_;
  Facts& facts_;
  Tap& tap_;
  Downstream& downstream_;
  std::atomic<bool> left_behind_{false};
  Mutex mutex_;
  std::vector<std::unique_ptr<Member>> members_ GUARDED_BY(mutex_);
};

}  // namespace laneway::stories
