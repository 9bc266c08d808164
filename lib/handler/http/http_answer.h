// The result of an http request, and the verdict that follows from it. Pure; the table is tested row by row.
//
//   2xx                                            done
//   400, 409, 412, 413, 415, 422, 431, 451         reject: these statuses are about the record
//   429                                            unavailable, cause throttled, after Retry-After
//   502, 503, 504                                  unavailable, after Retry-After
//   no connection: refused, name, TLS, not in time unavailable
//   the address of a subscriber is not public      retry
//   closed or reset after the request was sent     retry
//   no complete answer in time                     retry, cause timeout
//   3xx, every other 4xx, every other 5xx          retry: the cause may be the record, the endpoint, the
//                                                  credentials or the moment; the outcomes of other
//                                                  records show which
//
// Redirects are not followed. `handler.http.statuses` assigns another verdict to a status or to a class of
// statuses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "config/config.h"
#include "handler/outcome.h"

namespace laneway::handler {

enum class Transport : std::uint8_t {
  answered,       ///< There is a status, and the answer was complete or long enough.
  not_connected,  ///< Nothing of the request was sent.
  refused,        ///< Likewise, because the address is not allowed; `problem` says why.
  no_resources,   ///< Likewise, because this process lacks a resource; `problem` names it.
  broken,         ///< The connection ended between the request and the end of the answer.
  timed_out,
  stopped,
};

struct HttpAnswer {
  Transport transport = Transport::answered;
  bool sent = false;    ///< sending began; distinguishes a server that is out from a slow server
  std::string problem;  ///< the client library's text, if transport is not `answered`
  int status = 0;
  std::optional<Duration> retry_after;
  std::string location;
  std::string body;          ///< its beginning
  bool cut = false;          ///< the body was longer than the kept part
  std::string content_type;  ///< only if the body is evaluated; empty if the answer has no such header
};

/// The configured rules.
struct AnswerRules {
  Duration max_retry_after{};  ///< a longer retry_after counts as this duration
  config::StatusVerdicts statuses{};
};

/// `server`: the name of the server in reasons ("example.org:443").
Outcome verdict_of(const HttpAnswer& answer, const std::string& server, const AnswerRules& rules);

}  // namespace laneway::handler
