#include "admin/server/control_request.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "base/decimal.h"
#include "base/outside_json.h"
#include "config/text.h"

namespace laneway::admin {
namespace {

using Action = service::ControlRequest::Action;
using Query = std::multimap<std::string, std::string>;
using Parameters = std::map<std::string, std::string>;

constexpr std::string_view prefix = "/lanes/";
constexpr std::string_view parked_prefix = "/parked/";
constexpr std::size_t longest_reason = 500;

std::optional<Action> action_named(const std::string& name) {
  if (name == "suspend" || name == "pause") return Action::suspend;
  if (name == "resume") return Action::resume;
  if (name == "skip") return Action::skip;
  return std::nullopt;
}

Refusal no_such_path() {
  return {404,
          "no such path: the paths are POST /lanes/{topic}/{partition}/suspend, resume and skip, for all "
          "partitions of a topic POST /lanes/{topic}/suspend and resume, and for parked records POST "
          "/parked/send-on and /parked/give-up"};
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

/// Takes the parameter, which is 0 or 1, into `flag`.
std::optional<Refusal> take_flag(Parameters& parameters, const std::string& name, bool& flag) {
  const auto given = parameters.extract(name);
  flag = !given.empty() && given.mapped() == "1";
  if (given.empty() || flag || given.mapped() == "0") return std::nullopt;
  return Refusal{400, name + " must be 0 or 1"};
}

std::optional<Refusal> refuse_unknown(const Parameters& parameters) {
  if (parameters.empty()) return std::nullopt;
  return Refusal{400, "unknown parameter '" + parameters.begin()->first + "'"};
}

std::optional<Refusal> take_reason(Parameters& parameters, const std::string& action, std::string& reason) {
  reason = parameters["reason"];
  if (reason.empty())
    return Refusal{400, action + " needs the parameter reason: it is stored in the dead letter and logged"};
  if (reason.size() > longest_reason)
    return Refusal{400, "the reason is longer than " + std::to_string(longest_reason) + " bytes"};
  parameters.erase("reason");
  return std::nullopt;
}

std::optional<Refusal> take_skip(Parameters& parameters, service::ControlRequest& request) {
  const auto offset = decimal<std::int64_t>(parameters["offset"]);
  if (!offset) return Refusal{400, "skip needs the parameter offset, a whole number from 0"};
  request.offset = *offset;
  parameters.erase("offset");
  return take_reason(parameters, "skip", request.reason);
}

std::optional<Refusal> take_give_up(Parameters& parameters, service::ControlRequest& request) {
  request.pool = parameters["pool"];
  if (request.pool.empty()) return Refusal{400, "give-up needs the parameter pool, the name of a pool"};
  parameters.erase("pool");
  if (const auto subscriber = parameters.extract("subscriber"); !subscriber.empty())
    request.subscriber = subscriber.mapped();
  return take_reason(parameters, "give-up", request.reason);
}

std::variant<service::ControlRequest, Refusal> parse_parked(const std::string& name, const Query& query,
                                                            const std::string& body) {
  service::ControlRequest request;
  if (name == "send-on")
    request.action = Action::send_on;
  else if (name == "give-up")
    request.action = Action::give_up;
  else
    return no_such_path();
  Parameters parameters;
  if (auto bad = collect(query, body, parameters)) return *bad;
  if (request.action == Action::give_up)
    if (auto bad = take_give_up(parameters, request)) return *bad;
  if (auto bad = refuse_unknown(parameters)) return *bad;
  return request;
}

}  // namespace

bool is_control_path(const std::string& path) {
  return path.starts_with(prefix) || path.starts_with(parked_prefix);
}

std::variant<service::ControlRequest, Refusal> parse_control(const std::string& path, const Query& query,
                                                             const std::string& body) {
  if (path.starts_with(parked_prefix)) return parse_parked(path.substr(parked_prefix.size()), query, body);
  const auto parts =
      path.starts_with(prefix) ? config::split(path.substr(prefix.size()), "/") : std::vector<std::string>{};
  if (parts.size() != 2 && parts.size() != 3) return no_such_path();
  const auto action = action_named(parts.back());
  if (!action || parts.front().empty()) return no_such_path();
  service::ControlRequest request;
  request.action = *action;
  request.topic = parts.front();
  if (parts.size() == 3) {
    request.partition = decimal<std::int32_t>(parts[1]);
    if (!request.partition)
      return Refusal{400, "'" + parts[1] + "' is not a partition: a whole number from 0"};
  } else if (*action == Action::skip) {
    return Refusal{400, "skip takes one record: POST /lanes/{topic}/{partition}/skip"};
  }
  Parameters parameters;
  if (auto bad = collect(query, body, parameters)) return *bad;
  if (*action == Action::skip)
    if (auto bad = take_skip(parameters, request)) return *bad;
  if (*action == Action::suspend)
    if (auto bad = take_flag(parameters, "here", request.here)) return *bad;
  if (auto bad = refuse_unknown(parameters)) return *bad;
  return request;
}

std::variant<ReloadRequest, Refusal> parse_reload(const Query& query, const std::string& body) {
  Parameters parameters;
  if (auto bad = collect(query, body, parameters)) return *bad;
  ReloadRequest request;
  if (auto bad = take_flag(parameters, "dry_run", request.dry_run)) return *bad;
  if (auto bad = refuse_unknown(parameters)) return *bad;
  return request;
}

}  // namespace laneway::admin
