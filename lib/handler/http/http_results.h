// The results in an answer of a web service, if another pool is next (handler.h, Outcome::parts). Pure.
//
//   2xx, body of media type application/vnd.laneway.results+json   the results: a list as in results.h
//   2xx, any other body                                            the body is the value of the next record
//   2xx without a body (204, for example)                          the record goes on as it is
//   a status outside 2xx that is configured as done                the record goes on as it is
//
// A body that is longer than largest_results is rejected: it would be as long at the next attempt. A list
// that cannot be read is retried, as an answer that is cut off would be.
#pragma once

#include <string>
#include <string_view>

#include "handler/content.h"
#include "handler/http/http_answer.h"
#include "handler/outcome.h"

namespace laneway::handler {

inline constexpr std::string_view results_media_type = "application/vnd.laneway.results+json";

/// Adds the results to `outcome`, the verdict of the answer to the record's own request, or replaces the
/// outcome if the answer has unsuitable results. `server`: for reasons.
Outcome with_results(Outcome outcome, const HttpAnswer& answer, const Content& record,
                     const std::string& server);

}  // namespace laneway::handler
