// `handler.http`: a POST for each record, or for several (handler/http/http_batch.h). The request is
// described in handler/http/http_request.h, the verdict in handler/http/http_answer.h, what is sent when in
// handler/http/http_sender.h, the connections in handler/http/http_client.h.
//
// Asynchronous: handle() hands the task over to one of a few loops (handler/http/http_loop.h) and returns;
// the loop's thread sends it and answers. libcurl costs tens of microseconds a request, so one loop would end
// at one core: there are as many as cores, up to four. A task goes to the loop with the fewest, but what a
// loop's own thread hands over (the next work of a slot that it has just freed) stays there while there is
// room and the loops have not come apart: passing it on would cost a wake-up. Batches have one loop: they
// fill up sooner, and it can carry far more records.
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
  /// Destroyed, it cuts off what is in the air; tasks end as far as they were answered.
  /// Errors: configuration, for an address that is none and header names that cannot be passed on; internal
  /// when the system refuses a thread or a descriptor.
  static Result<std::unique_ptr<Handler>> make(const config::HttpSettings& settings);
  /// The server, host:port, that the settings are right for; else what make() would say of them. No effects.
  static Result<std::string> check(const config::HttpSettings& settings);
  ~HttpHandler() override;
  /// How many threads it has.
  static std::uint32_t threads(const config::HttpSettings& settings);
  void handle(Task task) noexcept override;
  /// The request's own time-out comes first and knows more; this is the net behind it.
  Duration timeout() const override { return timeout_ + seconds(1); }
  std::uint32_t most_per_task() const override { return 1; }
  bool asynchronous() const override { return true; }
  std::string name() const override { return "http"; }
  std::string downstream() const override { return server_; }

 private:
  HttpHandler(const config::HttpSettings& settings, const std::string& server);

  const std::string server_;  // host:port
  const Duration timeout_;
  std::vector<std::unique_ptr<HttpLoop>> loops_;  // at least one
};

}  // namespace laneway::handler
