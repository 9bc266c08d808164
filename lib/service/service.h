// The service: builds everything in order, stops it in reverse.
//
// Ownership: a Service owns its journal, its handler (unless it was given one) and its group members.
// Threads: start() and wait() are called by one thread; stop(), snapshot() and families() may be called from
// any, also while start() waits. Blocking: start() up to start_deadline for brokers and topics; wait() until
// the service has ended. After a stop it ends within lanes.drain and 5 s, whatever a handler or the client
// library does.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "handler/handler.h"
#include "lane/lane_state.h"
#include "telemetry/metrics.h"

namespace laneway::service {

/// How it ended.
struct Ended {
  /// Records whose work had been started and was given up at the drain deadline; each was logged.
  std::uint64_t abandoned = 0;
  /// Why it ended by itself: a fatal client error, or a group that it may not join (unavailable).
  std::optional<Error> error;
  /// A thread hangs (a handler or the client library): the process must end without destroying the Service.
  bool stuck = false;
};

/// One lane at a moment, for tables and status.
struct LaneView {
  std::size_t member = 0;
  std::string topic;
  std::int32_t partition = 0;
  std::uint64_t epoch = 0;
  lane::State state = lane::State::assigned;
  std::int64_t lag = -1;  ///< -1: not known
  std::uint32_t queued = 0;
  std::uint32_t in_flight = 0;
  std::uint64_t waiting_retries = 0;
  std::uint64_t done = 0;  ///< since the assignment
  std::int64_t committed = -1;
  std::uint64_t holds = 0;
  std::uint64_t pauses = 0;
  std::int64_t delivered = -1;  ///< the last offset taken since the assignment; -1: none
};

struct Liveness {
  bool live = true;
  std::string reason;
};

class Service {
 public:
  /// `handler`: the work, when it is not the configuration's.
  explicit Service(config::Config config, std::unique_ptr<handler::Handler> handler = nullptr);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Errors: configuration, unavailable (brokers or topics not there, or access to them denied, by
  /// start_deadline). Ok also when stop() came first.
  Status start();
  /// The first call begins the drain, the second cuts it short.
  void stop();
  /// Returns when the service has ended: after stop(), or by a fatal error.
  Ended wait();

  std::vector<LaneView> snapshot() const;
  /// The metrics, for telemetry::render_metrics.
  std::vector<telemetry::Family> families() const;
  /// Whether every member's loop ticks.
  Liveness live() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace laneway::service
