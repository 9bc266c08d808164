// A verdict in JSON, as programs (handler.exec) and web services (handler.http.batch) return it:
//
//   {"outcome":"done"}
//   {"outcome":"retry","reason":"the database is locked","after":"5s"}
//
//   {"outcome":"done","results":[{"id":"small","value":"…"}]}
//
// `outcome` is one of done, retry, reject, unavailable. `reason` (text) and `after` (a duration such as
// 500ms, for retry and unavailable, at most a day) may be omitted or null. `results` (results.h) counts with
// done, if another pool is next. Other members are ignored.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "handler/content.h"
#include "handler/outcome.h"

namespace laneway::handler {

/// The maximum of `after`; a longer duration counts as this one.
inline constexpr Duration longest_after = std::chrono::hours(24);

/// Reads a verdict. `text`: the text that `object`, a JSON object, was parsed from. The reason is cut to
/// 1,000 bytes and safe to print. `record`: the record whose results go to another pool; null to ignore
/// results. Error: internal; its message continues "the answer ...".
Result<Outcome> verdict_of_json(const nlohmann::json& object, std::string_view text,
                                const Content* record = nullptr);

/// Makes a verdict from its parts; `verdict`: 0 done, 1 retry, 2 reject, otherwise unavailable.
Outcome verdict_of_parts(std::size_t verdict, std::string_view reason, std::optional<Duration> after);

/// The error for an answer that cannot be read. `what` continues "the answer ...".
Error nonsense(std::string what);

}  // namespace laneway::handler
