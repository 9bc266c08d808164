// Status, readiness and timeline as JSON, for the page and for scripts. Pure. Bytes that are not UTF-8 are
// replaced.
#pragma once

#include <string>

#include "service/service_status.h"
#include "service/timeline/timeline.h"

namespace laneway::admin {

/// {"ready":false,"reasons":[{"code":"stalled","topic":"orders","partition":3,"text":"…"}]}
std::string readiness_json(const service::Readiness& readiness);
/// One object; docs and tests list its keys.
std::string status_json(const service::ServiceStatus& status, const std::string& version);
/// The timeline, for GET /history:
///
///   {"started": MS, "now": MS, "complete": BOOL, "last": N, "columns": ["number", "at_ms", …], "samples":
///   [[…], …], "events": [{…}, …]}
///
/// `complete`: no sample has been dropped yet. A sample is an array, with the values in the order of
/// `columns`. Times are ms since 1970. Whoever asks again with ?after=N gets what is new. When `started`
/// differs from that of the answer before, the process was restarted: ask again without `after`. An event
/// that has an id which is known replaces that event.
std::string history_json(const service::TimelineNews& news);

}  // namespace laneway::admin
