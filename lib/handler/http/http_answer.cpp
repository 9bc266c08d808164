#include "handler/http/http_answer.h"

#include <algorithm>

#include "handler/format/verdict_json.h"
#include "telemetry/escape.h"

namespace laneway::handler {
namespace {

constexpr int too_many_requests = 429;

/// What to do about a status that concerns the endpoint or the credentials.
std::string advice_on(int status) {
  if (status / 100 == 3) return "set handler.http.url to the final address";
  switch (status) {
    case 401:
    case 403:
      return "check the credentials in handler.http.authorization_file";
    case 404:
    case 410:
      return "check the path in handler.http.url";
    case 405:
      return "check whether the path in handler.http.url accepts POST";
    case 407:
      return "check the user and password of the proxy in http_proxy or https_proxy";
    default:
      return {};
  }
}

std::string status_reason(const HttpAnswer& answer, const std::string& server) {
  std::string reason = "HTTP " + std::to_string(answer.status) + " from " + server;
  if (answer.status / 100 == 3) {
    reason += ": redirected";
    if (!answer.location.empty()) reason += " to " + telemetry::excerpt(answer.location);
    reason += "; redirects are not followed";
  } else if (!answer.body.empty()) {
    reason += ": " + telemetry::excerpt(answer.body);
  }
  return reason;
}

/// Statuses that clearly concern the record, so that no other attempt at the record can succeed.
bool is_about_record(int status) {
  switch (status) {
    case 400:  // the service cannot read the record
    case 409:  // the record contradicts what the service has
    case 412:  // a condition among the headers of the record does not hold
    case 413:  // the record is too large
    case 415:  // the service does not support the content of the record
    case 422:  // the service can read the record, and the content is wrong
    case 431:  // the headers of the record are too large
    case 451:  // the content of the record is forbidden by law
      return true;
    default:
      return false;
  }
}

Verdict verdict_of(config::StatusVerdict configured) {
  switch (configured) {
    case config::StatusVerdict::done:
      return Verdict::done;
    case config::StatusVerdict::reject:
      return Verdict::reject;
    case config::StatusVerdict::unavailable:
      return Verdict::unavailable;
    case config::StatusVerdict::retry:
      break;
  }
  return Verdict::retry;
}

Verdict verdict_of_status(int status, const config::StatusVerdicts& configured) {
  if (!configured.empty())
    for (const int key : {status, status / 100})
      if (const auto found = configured.find(static_cast<std::uint16_t>(key)); found != configured.end())
        return verdict_of(found->second);
  if (status / 100 == 2) return Verdict::done;
  if (is_about_record(status)) return Verdict::reject;
  const bool unavailable = status == too_many_requests || (status >= 502 && status <= 504);
  return unavailable ? Verdict::unavailable : Verdict::retry;
}

Outcome outcome_of_status(const HttpAnswer& answer, const std::string& server, const AnswerRules& rules) {
  Outcome outcome;
  outcome.verdict = verdict_of_status(answer.status, rules.statuses);
  if (outcome.verdict == Verdict::done) return outcome;
  outcome.reason = status_reason(answer, server);
  if (outcome.verdict == Verdict::reject) return outcome;
  if (const auto advice = advice_on(answer.status); !advice.empty()) outcome.reason += "; " + advice;
  const bool is_throttled = answer.status == too_many_requests;
  const bool waits = outcome.verdict == Verdict::unavailable || is_throttled || answer.status == 503;
  if (waits && answer.retry_after) outcome.after = std::min(*answer.retry_after, rules.max_retry_after);
  if (outcome.verdict == Verdict::unavailable && is_throttled) outcome.cause = Cause::throttled;
  return outcome;
}

Outcome timed_out(const HttpAnswer& answer, const std::string& server) {
  if (!answer.sent) return Outcome::unavailable("no connection to " + server + " in time: " + answer.problem);
  return Outcome::timeout("no complete answer from " + server + " in time: " + answer.problem);
}

}  // namespace

Outcome verdict_of(const HttpAnswer& answer, const std::string& server, const AnswerRules& rules) {
  switch (answer.transport) {
    case Transport::answered:
      return outcome_of_status(answer, server, rules);
    case Transport::not_connected:
      return Outcome::unavailable("no connection to " + server + ": " + answer.problem);
    case Transport::refused:
      return Outcome::retry("no request to " + server + ": " + answer.problem);
    case Transport::no_resources:
      return Outcome::local("no connection to " + server + ": " + answer.problem);
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
