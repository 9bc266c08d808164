#include "handler/http_answer.h"

#include <algorithm>
#include <string_view>

#include "handler/verdict_json.h"

namespace laneway::handler {
namespace {

std::string status_reason(const HttpAnswer& answer, const std::string& server) {
  std::string reason = "HTTP " + std::to_string(answer.status) + " from " + server;
  if (!answer.body.empty()) reason += ": " + excerpt(answer.body);
  return reason;
}

Outcome redirected(const HttpAnswer& answer, const std::string& server) {
  const std::string to = answer.location.empty() ? "" : " to " + excerpt(answer.location);
  return Outcome::reject("HTTP " + std::to_string(answer.status) + " from " + server + ": redirected" + to +
                         "; redirects are not followed, set handler.http.url to the final address");
}

Outcome verdict_of_status(const HttpAnswer& answer, const std::string& server, Duration max_retry_after) {
  std::optional<Duration> after = answer.retry_after;
  if (after) after = std::min(*after, max_retry_after);
  switch (answer.status) {
    case 408:
      return Outcome::retry(status_reason(answer, server));
    case 429:
      return Outcome::retry(status_reason(answer, server), after);
    case 503:
      return Outcome::unavailable(status_reason(answer, server), after);
    case 502:
    case 504:
      return Outcome::unavailable(status_reason(answer, server));
    default:
      break;
  }
  switch (answer.status / 100) {
    case 2:
      return Outcome::done();
    case 3:
      return redirected(answer, server);
    case 4:
      return Outcome::reject(status_reason(answer, server));
    default:
      return Outcome::retry(status_reason(answer, server));
  }
}

Outcome timed_out(const HttpAnswer& answer, const std::string& server) {
  if (!answer.sent) return Outcome::unavailable("no connection to " + server + " in time: " + answer.problem);
  Outcome outcome = Outcome::retry("no complete answer from " + server + " in time: " + answer.problem);
  outcome.cause = Cause::timeout;
  return outcome;
}

}  // namespace

Outcome verdict_of(const HttpAnswer& answer, const std::string& server, Duration max_retry_after) {
  switch (answer.transport) {
    case Transport::answered:
      return verdict_of_status(answer, server, max_retry_after);
    case Transport::not_connected:
      return Outcome::unavailable("cannot reach " + server + ": " + answer.problem);
    case Transport::no_resources:
      return Outcome::local("no connection to " + server + ": " + answer.problem);
    case Transport::stale:
      return Outcome::retry("the idle connection to " + server + " was closed before an answer",
                            Duration::zero());
    case Transport::broken:
      return Outcome::retry("the connection to " + server +
                            " broke before the answer was complete: " + answer.problem);
    case Transport::timed_out:
      return timed_out(answer, server);
    case Transport::stopped:
      break;
  }
  return Outcome::retry("stopped while waiting for " + server);
}

}  // namespace laneway::handler
