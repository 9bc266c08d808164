#include "handler/format/verdict_json.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "config/units.h"
#include "handler/format/results.h"
#include "telemetry/escape.h"

namespace laneway::handler {
namespace {

using nlohmann::json;

constexpr std::size_t longest_reason = 1000;
constexpr std::array<std::string_view, 4> outcome_names = {"done", "retry", "reject", "unavailable"};
static_assert(outcome_names.size() == static_cast<std::size_t>(Verdict::unavailable) + 1, "a name for each");

/// The member; null if it is missing or null.
const json* member(const json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

/// The message shows the answer as it came: printing one member would recurse as deep as the member is
/// nested.
Error wrong_member(const std::string& name, const std::string& expected, std::string_view text) {
  return nonsense("has an invalid " + name + " (expected " + expected + "): " + telemetry::excerpt(text));
}

Result<std::optional<Duration>> after_of(const json& object, std::string_view text) {
  const json* after = member(object, "after");
  if (after == nullptr) return std::optional<Duration>();
  if (after->is_string())
    if (const auto parsed = config::parse_duration(after->get_ref<const std::string&>()))
      return std::optional(*parsed);
  return wrong_member("after", "a duration such as \"5s\"", text);
}

}  // namespace

Error nonsense(std::string what) { return {ErrorKind::internal, std::move(what), ""}; }

Result<Outcome> verdict_of_json(const json& object, std::string_view text, const Content* record) {
  const json* outcome = member(object, "outcome");
  if (outcome == nullptr) return nonsense("has no outcome: " + telemetry::excerpt(text));
  const auto name = std::find_if(outcome_names.begin(), outcome_names.end(),
                                 [&](std::string_view each) { return *outcome == each; });
  if (name == outcome_names.end())
    return wrong_member("outcome", "done, retry, reject and unavailable", text);
  const json* reason = member(object, "reason");
  if (reason != nullptr && !reason->is_string()) return wrong_member("reason", "a text", text);
  const auto after = after_of(object, text);
  if (!after) return after.error();
  auto verdict = verdict_of_parts(static_cast<std::size_t>(name - outcome_names.begin()),
                                  reason == nullptr ? "" : reason->get_ref<const std::string&>(), *after);
  const json* results = member(object, "results");
  if (verdict.verdict != Verdict::done || record == nullptr || results == nullptr) return verdict;
  auto parts = results_of_json(*results, *record, text);
  if (!parts) return parts.error();
  verdict.parts = std::move(parts).value();
  return verdict;
}

Outcome verdict_of_parts(std::size_t verdict, std::string_view reason, std::optional<Duration> after) {
  if (after) after = std::min(*after, longest_after);
  std::string text = telemetry::excerpt(reason, longest_reason);
  switch (verdict) {
    case 0:
      return Outcome::done();
    case 1:
      return Outcome::retry(std::move(text), after);
    case 2:
      return Outcome::reject(std::move(text));
    default:
      return Outcome::unavailable(std::move(text), after);
  }
}

}  // namespace laneway::handler
