// What became of an http request, and the verdict that follows. Pure; the table is tested row by row.
//
//   2xx                                               done
//   408, 429, 5xx but the next row's; anything odd    retry       (429: after Retry-After)
//   502, 503, 504                                     unavailable (503: after Retry-After)
//   no connection: refused, name, TLS, not in time    unavailable
//   closed or reset after the request was sent        retry
//   no complete answer in time                        retry, cause timeout
//   3xx                                               reject: redirects are not followed
//   other 4xx                                         reject
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "handler/outcome.h"

namespace laneway::handler {

enum class Transport : std::uint8_t {
  answered,       ///< There is a status, and the answer came whole or was long enough.
  not_connected,  ///< Nothing of the request was sent.
  no_resources,   ///< Likewise, because this process has run out of something; `problem` says of what.
  broken,         ///< The connection ended between the request and the end of the answer.
  stale,  ///< Like broken, before any answer and on a connection that had been idle: a new one may do.
  timed_out,
  stopped,
};

struct HttpAnswer {
  Transport transport = Transport::answered;
  bool sent = false;    ///< sending began; tells a server that is out from one that is slow
  std::string problem;  ///< the client library's words, where transport is not answered
  int status = 0;
  std::optional<Duration> retry_after;
  std::string location;
  std::string body;  ///< its beginning
  bool cut = false;  ///< the body is longer
};

/// `server` names the other side in reasons ("example.org:443"); a larger retry_after counts as
/// `max_retry_after`.
Outcome verdict_of(const HttpAnswer& answer, const std::string& server, Duration max_retry_after);

}  // namespace laneway::handler
