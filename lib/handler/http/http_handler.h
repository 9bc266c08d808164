// `handler.http`: a POST for each record, or for several records (handler/http/http_batch.h). The request is
// described in handler/http/http_request.h, the verdict in handler/http/http_answer.h, the order of sending
// in handler/http/http_sender.h, the connections in handler/http/http_client.h.
//
// Asynchronous: handle() gives the task to one of a few loops (handler/http/http_loop.h) and returns; the
// loop's thread sends the records and answers the task. libcurl costs tens of microseconds for each request,
// so a single loop would be limited to one core: there are as many loops as cores, up to four. A task goes to
// the loop with the fewest tasks. However, a task that a loop's own thread gives (the next work of a slot
// that it has just freed) stays in that loop while it has room and the loads of the loops are similar,
// because passing the task on would cost a wake-up. Batches have one loop: they fill up sooner, and one loop
// can carry far more records.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "handler/handler.h"
#include "handler/http/http_loop.h"

namespace laneway::handler {

class HttpHandler final : public Handler {
 public:
  /// The handler's destructor aborts requests in flight; tasks end with the records that were answered.
  /// Errors: configuration, for an invalid address and for header names that cannot be passed on; internal if
  /// the system refuses a thread or a descriptor.
  /// `passes_on`: answers have results, which go to another pool (handler/http/http_results.h).
  static Result<std::unique_ptr<Handler>> make(const config::HttpSettings& settings, bool passes_on = false);
  /// The server, host:port, or the subscribers and their file, if the settings are valid; otherwise the error
  /// of make(). No side effects.
  static Result<std::string> check(const config::HttpSettings& settings);
  /// Returns "host:port accepts connections"; with TLS if the URL is https. With subscribers, only their file
  /// is read. Blocks up to `timeout`, and as long as a name server takes; sends nothing beyond what a
  /// connection needs. Errors: unavailable; configuration for an invalid URL.
  static Result<std::string> reach(const config::HttpSettings& settings, Duration timeout);
  ~HttpHandler() override;
  /// The number of threads of the handler.
  static std::uint32_t threads(const config::HttpSettings& settings);
  void handle(Task task) noexcept override;
  /// The request's own time-out comes first and knows more; this time-out is a safety net.
  Duration timeout() const override { return timeout_ + seconds(1); }
  std::uint32_t most_per_task() const override { return 1; }
  bool asynchronous() const override { return true; }
  std::string name() const override { return "http"; }
  std::string downstream() const override { return server_; }

 private:
  HttpHandler(const config::HttpSettings& settings, const std::string& server, bool passes_on,
              std::unique_ptr<HttpSubscribers> subscribers);

  const std::string server_;                            // host:port, or the subscribers
  const std::unique_ptr<HttpSubscribers> subscribers_;  // may be null
  const Duration timeout_;
  std::vector<std::unique_ptr<HttpLoop>> loops_;  // at least one
};

}  // namespace laneway::handler
