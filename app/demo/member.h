// One member of the group: a service as in `laneway run`, on a thread of this process.
//
// Threads: one uses a Member; the service has threads of its own. Only the destructor blocks: it waits for
// the end of the service, which is bounded unless outcome().stuck.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "config/config.h"
#include "service/service.h"

namespace laneway::demo {

class Member {
 public:
  /// Begins to start the service.
  explicit Member(config::Config config);
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  /// Drains, commits and leaves the group. Only the first call has an effect.
  void stop();
  /// Does the same, and abandons running records.
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
