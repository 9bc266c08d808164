// The admin HTTP server.
//
//   GET /          the web page (page.h)
//   GET /metrics   Prometheus text format 0.0.4
//   GET /livez     200 "ok", or 503 with the reason
//   GET /readyz    200 "ready", or 503 with a line for each reason; as JSON with Accept: application/json or
//                  ?format=json
//   GET /status    JSON (status_json.h)
//   GET /history   JSON (status_json.h): samples and events of the last hours; with ?after=N only newer ones
//   GET /identity  JSON: the consumer group and the configuration file; with a token also a challenge and,
//   for
//                  ?nonce=TEXT, the proof that this service knows the token (proof.h)
//   POST /lanes/{topic}/{partition}/suspend, resume, skip; /lanes/{topic}/suspend, resume
//                  (control_request.h)
//   POST /parked/send-on, give-up   likewise
//                  200 done, 202 accepted, 404 no such lane here, 409 not possible now, 504 no answer;
//                  who may change something: authorization.h
//   POST /reload   reads the configuration again; 200 with the changes, 409 not now, 422 with the reason;
//                  ?dry_run=1 changes nothing
//
// HEAD works wherever GET does. Other methods are answered with 405, other paths with 404, malformed requests
// with 400, and a Host header that is neither an IP address, localhost, this machine's name nor the name in
// `listen` with 403 (host_check.h). Each answer has the header `X-Laneway: 1` (own_header.h). One request per
// connection, no compression.
//
// Ownership: start() returns the server; destroying or stopping it ends its threads. Threads: the sources are
// called on the server's own threads, several at a time, until stop() has returned. Blocking: start() looks
// the address up; stop() waits only for a running source. Bounds: see reception.h; requests beyond a bound
// are answered with 503, and connections that have sent no request or do not read are closed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "admin/http/reception.h"
#include "admin/identity/proof.h"
#include "admin/server/control_request.h"
#include "base/result.h"
#include "service/service.h"

namespace laneway::admin {

/// Where the answers come from. If a source throws, the answer is 500.
struct AdminSources {
  std::function<std::string()> metrics;
  std::function<service::Liveness()> live;
  std::function<service::Readiness()> ready;
  std::function<std::string()> status;                      ///< JSON
  std::function<std::string(std::uint64_t after)> history;  ///< JSON
  std::function<service::ControlAnswer(const service::ControlRequest&)> control;
  std::function<service::ControlAnswer(const ReloadRequest&)> reload;
  /// The secret that a change requires; empty: see authorization.h.
  std::function<std::string()> token;
  Identity identity{};
};

class Routes;

struct Limits {
  std::size_t workers = 7;  ///< in addition to the worker that answers only probes
  ReceptionLimits reception;
};

class Server {
 public:
  /// `listen` is host:port; port 0 takes a free one. Errors: configuration if the text is no address;
  /// unavailable if the address cannot be used now; exhausted without threads or descriptors for the server.
  static Result<std::unique_ptr<Server>> start(const std::string& listen, AdminSources sources,
                                               Limits limits = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const { return reception_.port(); }
  /// Ends all connections and joins the threads; a second call does nothing. Must not be called from a
  /// source.
  void stop();

 private:
  Server(Listener listener, const std::string& listen, AdminSources sources, const Limits& limits);
  void work(bool probes_only);

  Reception reception_;
  const std::unique_ptr<Routes> routes_;
  std::vector<std::thread> threads_;
};

}  // namespace laneway::admin
