// `handler.http`: a POST for each record, or for several (handler/http_batch.h). The request is described in
// handler/http_request.h, the verdict in handler/http_answer.h, what is sent when in handler/http_sender.h,
// the connections in handler/http_client.h.
//
// Asynchronous: handle() hands the task over and returns; one thread of the handler sends everything and
// answers. What is handed over and not answered is bounded by the lanes' slots (lanes.workers each), so the
// list between needs no bound of its own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "config/config.h"
#include "handler/handler.h"
#include "handler/http_sender.h"

namespace laneway::handler {

class HttpHandler final : public Handler {
 public:
  /// Errors: configuration, for an address that is none and header names that cannot be passed on; internal
  /// when the system refuses a thread or a descriptor.
  static Result<std::unique_ptr<Handler>> make(const config::HttpHandler& settings);
  /// Cuts off what is in the air; tasks end as far as they were answered.
  ~HttpHandler() override;

  void handle(Task task) noexcept override EXCLUDES(mutex_);
  /// The request's own time-out comes first and knows more; this is the net behind it.
  Duration timeout() const override { return timeout_ + seconds(1); }
  std::uint32_t most_per_task() const override { return 1; }
  bool asynchronous() const override { return true; }
  void connected_to(const std::string& cluster) override EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    cluster_ = cluster;
  }
  std::string name() const override { return "http"; }

 private:
  HttpHandler(const config::HttpHandler& settings, std::string server);

  void run() EXCLUDES(mutex_);
  bool take_over() EXCLUDES(mutex_);

  const Duration timeout_;
  HttpSender sender_;  // used by thread_

  Mutex mutex_;
  std::vector<Task> handed_over_ GUARDED_BY(mutex_);
  std::optional<std::string> cluster_ GUARDED_BY(mutex_);  // not yet taken over
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread::id serving_ GUARDED_BY(mutex_);

  std::vector<Task> taken_over_;  // used by thread_
  std::thread thread_;
};

}  // namespace laneway::handler
