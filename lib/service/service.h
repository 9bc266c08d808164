// The service: builds everything in order, stops it in reverse.
//
// Ownership: a Service owns its journal, its handler (unless the caller passed one in) and its group members.
// Threads: start() and wait() are called by one thread; the other methods may be called from any thread, also
// while start() waits. Blocking: start() up to start_deadline for brokers and topics; wait() until the
// service has ended. After a stop the service ends within lanes.drain and 5 s, whatever a handler or the
// client library does. readiness(), status() and control() ask the loops and wait for at most 500 ms
// (control: 5 s).
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
#include "service/control.h"
#include "service/service_status.h"
#include "service/timeline/timeline.h"
#include "telemetry/metrics.h"

namespace laneway::service {

/// How the service ended.
struct Ended {
  /// Records that were running and were given up at the drain deadline; each was logged.
  std::uint64_t abandoned = 0;
  /// Records that finished and whose last commit failed; the partition and offset of each lane were logged.
  std::uint64_t uncommitted = 0;
  /// Why the service ended by itself: a fatal client error, or a group that it may not join (unavailable).
  std::optional<Error> error;
  /// A thread hangs (in a handler or the client library): the process must end without destroying the
  /// Service.
  bool stuck = false;
};

struct Liveness {
  bool live = true;
  std::string reason;
};

class Service {
 public:
  /// `handler`: the work, if it is not the configuration's. `advice_after`: how long lanes are observed
  /// before any advice is given.
  explicit Service(config::Config config, std::unique_ptr<handler::Handler> handler = nullptr,
                   Duration advice_after = seconds(60));
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Errors: configuration, unavailable (brokers or topics are missing, or access to them is denied, until
  /// start_deadline). Returns ok also if stop() came first.
  Status start();
  /// The first call begins the drain, the second cuts it short.
  void stop();
  /// Returns when the service has ended: after stop(), or by a fatal error.
  Ended wait();

  std::vector<LaneView> snapshot() const;
  /// The metrics, for telemetry::render_metrics.
  std::vector<telemetry::Family> families() const;
  /// Whether the loop of every member makes turns.
  Liveness live() const;
  /// Whether the service works, and if not, why (readiness.h). Progress is observed while wait() waits.
  Readiness readiness() const;
  ServiceStatus status() const;
  /// The samples and events of the last hours that have a higher number than `last`.
  TimelineNews timeline(std::uint64_t last) const;
  /// The configuration in force: as at the start, with the changes since.
  std::shared_ptr<const config::Config> settings() const;
  /// Puts another configuration in force, without touching the assignment; it must differ only in settings
  /// that can be changed while the service runs (config/reload.h). Lanes follow in their loops' next turns.
  /// Error: unavailable while the service starts or stops; then nothing is changed.
  Status change(const config::Config& wanted);

  /// The journal goes on in the file that has its name now (lane/shared/journal.h); nothing without a
  /// journal. Error: the file cannot be opened, and the journal goes on in the file that it has.
  Status reopen_journal();

  /// Pauses, resumes, skips. What is done is in the log.
  ControlAnswer control(const ControlRequest& request);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace laneway::service
