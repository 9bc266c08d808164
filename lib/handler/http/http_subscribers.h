// The destination of an http request: the subscriber that a sub-job's id names
// (config/handlers/subscribers.h).
//
// Threads: any. Blocks as long as SubscriberFile does.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "config/config.h"
#include "handler/handler.h"
#include "handler/http/http_request.h"
#include "handler/subscribers/subscriber_file.h"

namespace laneway::handler {

/// Where a request goes.
struct HttpTarget {
  std::string url;
  std::string server;  ///< for reasons
};

class HttpSubscribers {
 public:
  explicit HttpSubscribers(std::unique_ptr<SubscriberFile> file) : file_(std::move(file)) {}
  /// Errors: those of SubscriberFile.
  static Result<std::unique_ptr<HttpSubscribers>> open(const std::string& path);

  /// Sets the target of the attempt's request, and adds its headers: the specification's
  /// (webhook_signature.h), and record headers named in `passed_on`. Returns an outcome instead if there is
  /// no request to send: done for a subscriber that is disabled, reject for a whole record and for a name
  /// that the file does not have, unavailable for these subscribers while the file has a mistake.
  std::optional<Outcome> address(const Attempt& attempt, const std::vector<std::string>& passed_on,
                                 HttpTarget& target, RequestHeaders& headers);

 private:
  /// The outcome for a subscriber that is disabled or not in the file.
  Outcome not_sent(const Attempt& attempt, const SubscriberFile::Found& found) const;

  const std::unique_ptr<SubscriberFile> file_;
};

}  // namespace laneway::handler
