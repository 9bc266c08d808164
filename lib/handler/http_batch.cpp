#include "handler/http_batch.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "handler/verdict_json.h"

namespace laneway::handler {
namespace {

using nlohmann::json;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const auto begin = text.find_first_not_of(blank);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

bool is_verdict(const json& value) { return value.is_object() && value.contains("outcome"); }

/// One JSON value for each line; what is not JSON is discarded.
std::vector<json> lines_of(std::string_view text) {
  std::vector<json> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trimmed(text.substr(0, end));
    if (!line.empty()) lines.push_back(json::parse(line, nullptr, false));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// The values of a list of verdicts; nothing when the body is none. An error where it is one that cannot be
/// read.
Result<std::optional<std::vector<json>>> list_in(std::string_view body, bool cut) {
  using List = std::optional<std::vector<json>>;
  const auto text = trimmed(body);
  if (text.empty() || (text[0] != '[' && text[0] != '{')) return List();
  if (cut) return nonsense("is longer than its verdicts may be");
  if (text[0] == '{') {
    json whole = json::parse(text, nullptr, false);  // one verdict may be spread over lines
    auto lines = whole.is_discarded() ? lines_of(text) : std::vector<json>{std::move(whole)};
    return is_verdict(lines.front()) ? List(std::move(lines)) : List();
  }
  const json array = json::parse(text, nullptr, false);
  if (array.is_discarded()) return nonsense("is not JSON: " + excerpt(text));
  if (!array.empty() && !is_verdict(array.front())) return List();
  return List(array.get<std::vector<json>>());
}

Result<std::vector<Outcome>> verdicts_in(const std::vector<json>& list, std::size_t records,
                                         std::string_view body) {
  if (list.size() != records)
    return nonsense("has " + std::to_string(list.size()) + " verdicts for " + std::to_string(records) +
                    " records");
  std::vector<Outcome> outcomes;
  for (const json& value : list) {
    if (!value.is_object()) return nonsense("has a verdict that is no JSON object: " + excerpt(body));
    auto outcome = verdict_of_json(value, body);
    if (!outcome) return outcome.error();
    outcomes.push_back(std::move(outcome).value());
  }
  return outcomes;
}

}  // namespace

std::size_t longest_verdicts(std::size_t records) { return 64 * 1024 + records * 256; }

std::string batch_content_type(config::BatchFormat format) {
  return format == config::BatchFormat::json ? "application/json" : "application/x-ndjson";
}

std::string batch_body(config::BatchFormat format, const std::vector<std::string>& records) {
  const bool array = format == config::BatchFormat::json;
  std::string body = array ? "[" : "";
  for (const std::string& record : records) {
    if (array && body.size() > 1) body += ",\n";
    body += record;
    if (!array) body += '\n';
  }
  return array ? body + ']' : body;
}

void add_batch_headers(std::size_t records, RequestHeaders& headers) {
  headers.add("Laneway-Records", std::to_string(records));
}

std::vector<Outcome> batch_verdicts(const HttpAnswer& answer, std::size_t records, const std::string& server,
                                    Duration max_retry_after) {
  Outcome all = verdict_of(answer, server, max_retry_after);
  if (all.verdict == Verdict::reject && records > 1) {
    all = Outcome::retry(all.reason + " (to a request of " + std::to_string(records) +
                         " records; each is tried again alone)");
  } else if (all.verdict == Verdict::done) {
    const auto unfit = [&](const Error& error) {
      return std::vector(records, Outcome::retry("the answer of " + server + " " + error.message));
    };
    const auto list = list_in(answer.body, answer.cut);
    if (!list) return unfit(list.error());
    if (*list) {
      auto outcomes = verdicts_in(**list, records, answer.body);
      return outcomes ? std::move(outcomes).value() : unfit(outcomes.error());
    }
  }
  return std::vector(records, all);
}

}  // namespace laneway::handler
