// The admin HTTP server.
//
//   GET /          the web page (page.h)
//   GET /metrics   Prometheus text format 0.0.4
//   GET /livez     200 "ok", or 503 with the reason
//   GET /readyz    200 "ready", or 503 with a line for each reason; as JSON with Accept: application/json or
//                  ?format=json
//   GET /status    JSON (status_json.h)
//   POST /lanes/{topic}/{partition}/pause, resume, skip; /lanes/{topic}/pause, resume (control_request.h)
//                  200 done, 202 will be done, 404 no such lane here, 409 cannot be done now, 504 no answer;
//                  who may: authorization.h
//   POST /reload   the configuration is read again; 200 what has changed, 409 not now, 422 why it cannot be;
//                  ?dry_run=1 changes nothing
//
// HEAD works where GET does; other methods answer 405, other paths 404, what is malformed 400, a Host header
// that is neither an IP address, localhost, this machine's name nor the name in `listen` 403 (host_check.h).
// One request a connection, no compression.
//
// Ownership: start() returns the server; destroying or stopping it ends its threads. Threads: the sources are
// called on the server's own threads, several at a time, until stop() has returned. Blocking: start() looks
// the address up; stop() waits for a source that is running, and for nothing else. Bounds: see reception.h;
// what exceeds them is answered 503, or closed where it has not asked or does not read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "admin/control_request.h"
#include "admin/reception.h"
#include "base/result.h"
#include "base/time.h"
#include "service/service.h"

namespace laneway::admin {

/// Where the answers come from. A source that throws makes the answer 500.
struct AdminSources {
  std::function<std::string()> metrics;
  std::function<service::Liveness()> live;
  std::function<service::Readiness()> ready;
  std::function<std::string()> status;  ///< JSON
  std::function<service::ControlAnswer(const service::ControlRequest&)> control;
  std::function<service::ControlAnswer(const ReloadRequest&)> reload;
  /// What whoever changes something has to know; empty: see authorization.h.
  std::function<std::string()> token;
};

struct Limits {
  std::size_t workers = 7;  ///< beside the one that answers probes alone
  ReceptionLimits reception;
};

class Server {
 public:
  /// `listen` is host:port; port 0 takes a free one. Errors: configuration for what is no address;
  /// unavailable for one that is unavailable now; exhausted without threads or descriptors for the server.
  static Result<std::unique_ptr<Server>> start(const std::string& listen, AdminSources sources,
                                               Limits limits = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  /// Ends all connections and joins the threads; a second call does nothing. Not from a source.
  void stop();

 private:
  class Implementation;
  explicit Server(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace laneway::admin
