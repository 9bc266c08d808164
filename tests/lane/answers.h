// Answers of a handler, or in its place, for the lane's tests.
#pragma once

#include <string>
#include <utility>

#include "handler/outcome.h"

namespace laneway::lane {

inline handler::Outcome with_cause(handler::Cause cause, std::string reason) {
  auto outcome = handler::Outcome::unavailable(std::move(reason));
  outcome.cause = cause;
  return outcome;
}

/// A downstream's answer to too many calls.
inline handler::Outcome throttled() { return with_cause(handler::Cause::throttled, "HTTP 429"); }

/// The breaker has not let the record begin.
inline handler::Outcome withheld() { return with_cause(handler::Cause::withheld, {}); }

}  // namespace laneway::lane
