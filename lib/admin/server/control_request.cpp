#include "admin/server/control_request.h"

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/outside_json.h"
#include "config/text.h"

namespace laneway::admin {
namespace {

using Action = service::ControlRequest::Action;
using Query = std::multimap<std::string, std::string>;
using Parameters = std::map<std::string, std::string>;

constexpr std::string_view prefix = "/lanes/";
constexpr std::size_t longest_reason = 500;

template <class Number>
std::optional<Number> number_of(const std::string& text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end || value < 0) return std::nullopt;
  return value;
}

std::optional<Action> action_named(const std::string& name) {
  if (name == "suspend" || name == "pause") return Action::suspend;
  if (name == "resume") return Action::resume;
  if (name == "skip") return Action::skip;
  return std::nullopt;
}

Refusal no_such_path() {
  return {404,
          "no such path: the paths are POST /lanes/{topic}/{partition}/suspend, resume and skip, and for all "
          "partitions of a topic POST /lanes/{topic}/suspend and resume"};
}

/// Adds the parameters of a JSON body, as text.
std::optional<Refusal> add_body(const std::string& body, Parameters& parameters) {
  if (body.empty()) return std::nullopt;
  const auto root = parse_outside_json(body);
  if (!root.is_object())
    return Refusal{400, "the body is not a JSON object such as {\"offset\": 17, \"reason\": \"…\"}"};
  for (const auto& [name, value] : root.items()) {
    if (!value.is_string() && !value.is_number_integer())
      return Refusal{400, "'" + name + "' in the body must be a string or a whole number"};
    const auto text = value.is_string() ? value.get<std::string>() : value.dump();
    if (!parameters.emplace(name, text).second) return Refusal{400, "'" + name + "' is given twice"};
  }
  return std::nullopt;
}

/// Collects the parameters of the query and of the body.
std::optional<Refusal> collect(const Query& query, const std::string& body, Parameters& parameters) {
  for (const auto& [name, value] : query)
    if (!parameters.emplace(name, value).second) return Refusal{400, "'" + name + "' is given twice"};
  return add_body(body, parameters);
}

std::optional<Refusal> refuse_unknown(const Parameters& parameters) {
  if (parameters.empty()) return std::nullopt;
  return Refusal{400, "unknown parameter '" + parameters.begin()->first + "'"};
}

std::optional<Refusal> take_skip(Parameters& parameters, service::ControlRequest& request) {
  const auto offset = number_of<std::int64_t>(parameters["offset"]);
  if (!offset) return Refusal{400, "skip needs the parameter offset, a whole number from 0"};
  request.offset = *offset;
  request.reason = parameters["reason"];
  if (request.reason.empty())
    return Refusal{400, "skip needs the parameter reason: it is stored in the dead letter and logged"};
  if (request.reason.size() > longest_reason)
    return Refusal{400, "the reason is longer than " + std::to_string(longest_reason) + " bytes"};
  parameters.erase("offset");
  parameters.erase("reason");
  return std::nullopt;
}

}  // namespace

bool is_control_path(const std::string& path) { return path.starts_with(prefix); }

std::variant<service::ControlRequest, Refusal> parse_control(const std::string& path, const Query& query,
                                                             const std::string& body) {
  const auto parts =
      is_control_path(path) ? config::split(path.substr(prefix.size()), "/") : std::vector<std::string>{};
  if (parts.size() != 2 && parts.size() != 3) return no_such_path();
  const auto action = action_named(parts.back());
  if (!action || parts.front().empty()) return no_such_path();
  service::ControlRequest request;
  request.action = *action;
  request.topic = parts.front();
  if (parts.size() == 3) {
    request.partition = number_of<std::int32_t>(parts[1]);
    if (!request.partition)
      return Refusal{400, "'" + parts[1] + "' is not a partition: a whole number from 0"};
  } else if (*action == Action::skip) {
    return Refusal{400, "skip takes one record: POST /lanes/{topic}/{partition}/skip"};
  }
  Parameters parameters;
  if (auto bad = collect(query, body, parameters)) return *bad;
  if (*action == Action::skip)
    if (auto bad = take_skip(parameters, request)) return *bad;
  if (*action == Action::suspend) {
    const auto here = parameters.extract("here");
    if (!here.empty() && here.mapped() != "1" && here.mapped() != "0")
      return Refusal{400, "here must be 0 or 1"};
    request.here = !here.empty() && here.mapped() == "1";
  }
  if (auto bad = refuse_unknown(parameters)) return *bad;
  return request;
}

std::variant<ReloadRequest, Refusal> parse_reload(const Query& query, const std::string& body) {
  Parameters parameters;
  if (auto bad = collect(query, body, parameters)) return *bad;
  const auto wish = parameters.extract("dry_run");
  if (!wish.empty() && wish.mapped() != "1" && wish.mapped() != "0")
    return Refusal{400, "dry_run must be 0 or 1"};
  if (auto bad = refuse_unknown(parameters)) return *bad;
  return ReloadRequest{!wish.empty() && wish.mapped() == "1"};
}

}  // namespace laneway::admin
