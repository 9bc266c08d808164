// One member of the group: a service as in `laneway run`, on a thread of this process.
//
// Threads: one uses a Member; the service has threads of its own. Only the destructor blocks: it waits for
// the end of the service, which is bounded unless outcome().stuck.
#pragma once

#include <future>
#include <utility>
#include <vector>

#include "config/config.h"
#include "service/service.h"

namespace laneway::demo {

class Member {
 public:
  /// Begins to start the service.
  explicit Member(config::Config config)
      : service_(std::move(config)), outcome_(std::async(std::launch::async, [this] { return run(); })) {}
  ~Member() {
    if (!ended()) stop_at_once();
    outcome_.wait();
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  /// Drains, commits and leaves the group. Only the first call has an effect.
  void stop() {
    if (!std::exchange(stopping_, true)) service_.stop();
  }
  /// Does the same, and abandons running records.
  void stop_at_once() {
    stop();
    service_.stop();
  }
  bool stopping() const { return stopping_; }
  bool ended() const { return outcome_.wait_for(seconds(0)) == std::future_status::ready; }
  /// Only when ended().
  const service::Ended& outcome() const { return outcome_.get(); }
  std::vector<service::LaneView> lanes() const { return service_.snapshot(); }

 private:
  service::Ended run() {
    if (const auto started = service_.start(); !started) return {.error = started.error()};
    return service_.wait();
  }

  service::Service service_;
  bool stopping_ = false;
  std::shared_future<service::Ended> outcome_;  // last: its thread uses the others
};

}  // namespace laneway::demo
