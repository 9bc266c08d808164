#include "handler/http/http_results.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/outside_json.h"
#include "config/text.h"
#include "handler/format/results.h"
#include "telemetry/escape.h"

namespace laneway::handler {
namespace {

/// Without parameters such as charset.
bool is_list_of_results(std::string_view content_type) {
  const auto type = content_type.substr(0, content_type.find(';'));
  return config::lower(type.substr(0, type.find_last_not_of(" \t") + 1)) == results_media_type;
}

Outcome listed(const std::string& body, const Content& record, const std::string& server) {
  const auto list = parse_outside_json(body);
  if (list.is_discarded())
    return Outcome::retry("the answer of " + server + " is not JSON: " + telemetry::excerpt(body));
  auto parts = results_of_json(list, record, body);
  if (!parts) return Outcome::retry("the answer of " + server + " " + parts.error().message);
  Outcome outcome;
  outcome.parts = std::move(parts).value();
  return outcome;
}

}  // namespace

Outcome with_results(Outcome outcome, const HttpAnswer& answer, const Content& record,
                     const std::string& server) {
  if (outcome.verdict != Verdict::done || answer.status / 100 != 2 || answer.body.empty()) return outcome;
  if (answer.cut)
    return Outcome::reject("the answer of " + server + " is longer than the " +
                           std::to_string(largest_results) + " bytes that can go to the next pool");
  if (is_list_of_results(answer.content_type)) return listed(answer.body, record, server);
  Parts parts(1);
  parts.front().value = answer.body;
  return Outcome::done(std::move(parts));
}

}  // namespace laneway::handler
