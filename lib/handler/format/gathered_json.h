// The results of all sub-jobs of a record as one value, for a pool that gathers them
// (config::PoolSettings::gather):
//
//   [{"id":"small","results":[{"id":"0","value":"…","headers":[["type","png"]]}]},
//    {"id":"large","given_up":true}]
//
// in the order of the sub-jobs. A key, a value or a header's value that is not UTF-8 is base64, and the
// object has "base64":true, as in record_json.h; `key` and `headers` are omitted if the result has none.
//
// Pure.
#pragma once

#include <string>

#include "handler/gathering.h"

namespace laneway::handler {

std::string gathered_json(const std::vector<Gathering::Result>& results);

}  // namespace laneway::handler
