// Several records in one request (`handler.http.batch`), and a verdict for each from its answer. Pure.
//
// The body is a JSON array of records, or a line of JSON for each (ndjson); a record as in record_json.h. The
// request says `Laneway-Records: <how many>`.
//
// Answer: a status that does not mean done holds for all. One that does is done for all, unless the body is a
// list of verdicts (verdict_json.h): a JSON array, or lines, as many as records and in their order. A body is
// such a list when it begins with an object that has an `outcome`, alone or in an array, or when it is an
// empty array. Whatever else a service answers with 2xx (such as what it created, however long) is done. If a
// list does not fit its request (other count, not JSON, nested too deep, cut at the longest answer), all are
// a retry.
//
// When a request with several records is rejected as a whole, one of the records may have spoilt the request
// for the others: the sender sends each record again in a request of its own, and only the answer to that
// request counts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "handler/http/http_answer.h"
#include "handler/http/http_request.h"

namespace laneway::handler {

/// Bytes of an answer's body that are kept, for up to `records` verdicts.
std::size_t longest_verdicts(std::size_t records);
/// The media type of a request's body.
std::string batch_content_type(config::BatchFormat format);
/// `records`: each as in record_json.h; not empty.
std::string batch_body(config::BatchFormat format, const std::vector<std::string>& records);
void add_batch_headers(std::size_t records, RequestHeaders& headers);

/// No record is answered: the request is rejected, and any of its several records may be the cause.
bool is_spoilt(const HttpAnswer& answer, std::size_t records, const std::string& server,
               const AnswerRules& rules);
/// One outcome for each of `records` records. The rest as for verdict_of().
std::vector<Outcome> batch_verdicts(const HttpAnswer& answer, std::size_t records, const std::string& server,
                                    const AnswerRules& rules);

}  // namespace laneway::handler
