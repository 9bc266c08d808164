// What the results of a record's work may be (handler/outcome.h, Part), whoever gives them, and results in
// JSON, as programs (handler.exec) and web services (handler.http) return them:
//
//   [{"id":"small","value":"…"},{"id":"large","key":"k","value":"AAE=","headers":[["type","AAE="]],
//     "base64":true}]
//
// `id` is text without control characters and '/'; a result without an id has its number, from 0, as its id.
// A key that is missing or null is the record's key. A missing value is the record's value, and a null value
// is null. `headers` replace the record's headers of the same names; a header's value may be null. With
// "base64":true the key, the value and all header values of that result are base64, as in records
// (record_json.h). An empty list means that nothing is left to do for the record.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "handler/content.h"
#include "handler/outcome.h"

namespace laneway::handler {

/// The most results of one record.
inline constexpr std::size_t most_results = 10'000;
/// The longest id, in bytes.
inline constexpr std::size_t longest_result_id = 256;
/// The most bytes of keys, values and headers of all results of one record; also the longest answer of a
/// program or a web service with results.
inline constexpr std::size_t largest_results = 16 << 20;

/// What is wrong with these results, as "two results with the id a"; empty if nothing is. An id must not
/// occur twice, and must be text that can stand in a header, a journal and a log.
std::string wrong_results(const Parts& parts);
/// The same for a single id.
std::string wrong_result_id(std::string_view id);

/// Reads a list of results. `record`: the record that they are results of. `text`: the text that `list` was
/// parsed from. Error: internal; its message continues "the answer ...".
Result<std::shared_ptr<Parts>> results_of_json(const nlohmann::json& list, const Content& record,
                                               std::string_view text);

}  // namespace laneway::handler
