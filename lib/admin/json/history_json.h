// The timeline of a service as JSON, for the page and for scripts: GET /history.
//
//   {"started": MS, "now": MS, "complete": BOOL, "last": N, "columns": ["number", "at_ms", …], "samples":
//   [[…], …], "events": [{…}, …]}
//
// `complete`: no sample has been dropped yet. A sample is an array, with the values in the order of
// `columns`. Times are ms since 1970. Whoever asks again with ?after=N gets what is new. When `started`
// differs from that of the answer before, the process was restarted: ask again without `after`. An event that
// has an id which is known replaces that event. Pure.
#pragma once

#include <string>

#include "service/timeline/timeline.h"

namespace laneway::admin {

std::string history_json(const service::TimelineNews& news);

}  // namespace laneway::admin
