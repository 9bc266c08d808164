// A service of its own, as `laneway run` would have it, on a thread of this process: one member of the group.
//
// Threads: one uses it; the service's own are inside. Nothing blocks but the destructor, which waits for the
// service's end; that is bounded unless outcome().stuck.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "config/config.h"
#include "service/service.h"

namespace laneway::demo {

class Member {
 public:
  /// Begins to start.
  explicit Member(config::Config config);
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  /// Drains, commits and leaves; the first call counts.
  void stop();
  /// The same with what is at work abandoned.
  void stop_at_once();
  bool stopping() const { return stopping_; }
  bool ended() const { return ended_.load(std::memory_order_acquire); }
  /// Only when ended().
  const service::Ended& outcome() const { return outcome_; }
  std::vector<service::LaneView> lanes() const { return service_.snapshot(); }

 private:
  void run();

  service::Service service_;
  bool stopping_ = false;
  service::Ended outcome_;  // written before ended_
  std::atomic<bool> ended_{false};
  std::thread thread_;  // last: it uses the others
};

}  // namespace laneway::demo
