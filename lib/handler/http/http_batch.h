// Several records in one request (`handler.http.batch`), and the verdict for each from the answer. Pure.
//
// The body is a JSON array of records, or one line of JSON for each record (ndjson); a record is written as
// in record_json.h. The request has the header `Laneway-Records: <number of records>`.
//
// Answer: a status that does not mean done applies to all records. A status that means done makes all records
// done, unless the body is a list of verdicts (verdict_json.h): a JSON array, or lines, with one verdict for
// each record, in the order of the records. A body is such a list if it begins with an object that has an
// `outcome`, alone or in an array, or if it is an empty array. Any other body with 2xx (such as a description
// of created objects, however long) means done. If a list does not fit its request (a different count, not
// JSON, nested too deep, cut at the longest answer), all records are retried.
//
// If a request with several records is rejected as a whole, one of the records may have spoilt the request
// for the others. The sender then sends each record again in a request of its own, and only the answer to
// that request counts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "handler/content.h"
#include "handler/http/http_answer.h"
#include "handler/http/http_request.h"

namespace laneway::handler {

/// The number of bytes of an answer's body that are kept, for up to `records` verdicts.
std::size_t longest_verdicts(std::size_t records);
/// The media type of a request's body.
std::string batch_content_type(config::BatchFormat format);
/// `records`: each as in record_json.h; not empty.
std::string batch_body(config::BatchFormat format, const std::vector<std::string>& records);
void add_batch_headers(std::size_t records, RequestHeaders& headers);

/// Whether a request is rejected and any of its several records may be the cause: then no record is answered.
bool is_spoilt(const HttpAnswer& answer, std::size_t records, const std::string& server,
               const AnswerRules& rules);
/// One outcome for each of `records` records. The other parameters as in verdict_of(). `asked`: empty, or the
/// records, if verdicts may have results (verdict_json.h); null for a record whose verdict does not count.
std::vector<Outcome> batch_verdicts(const HttpAnswer& answer, std::size_t records, const std::string& server,
                                    const AnswerRules& rules, const std::vector<const Content*>& asked = {});

}  // namespace laneway::handler
