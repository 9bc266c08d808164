// `handler.http`: a POST for each record. The request is described in handler/http_request.h, the verdict in
// handler/http_answer.h, the connection in handler/http_client.h.
//
// Threads: any number; each request borrows a client (one kept-alive connection) from a list that all workers
// share, the last used first, so there are as many connections as requests at once, and few when there is
// little to do. Blocks: as long as the request, up to `timeout`; a stop cancels it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "config/config.h"
#include "handler/handler.h"
#include "handler/http_client.h"

namespace laneway::handler {

class HttpHandler final : public RecordHandler {
 public:
  /// Error: configuration, for an address that is none and header names that cannot be passed on.
  static Result<std::unique_ptr<Handler>> make(const config::HttpHandler& settings);

  /// The request's own time-out comes first and knows more; this is the net behind it.
  Duration timeout() const override { return endpoint_.timeout + seconds(1); }
  std::string name() const override { return "http"; }

 protected:
  Outcome handle_record(const Attempt& attempt) override;

 private:
  HttpHandler(const config::HttpHandler& settings, std::string server);

  std::unique_ptr<HttpClient> borrow() EXCLUDES(mutex_);
  void give_back(std::unique_ptr<HttpClient> client) EXCLUDES(mutex_);

  const HttpEndpoint endpoint_;
  const std::vector<std::string> passed_on_;
  const Duration max_retry_after_;

  Mutex mutex_;
  std::vector<std::unique_ptr<HttpClient>> idle_ GUARDED_BY(mutex_);
};

}  // namespace laneway::handler
