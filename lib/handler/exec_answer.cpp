#include "handler/exec_answer.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "config/units.h"
#include "handler/exec_bytes.h"
#include "handler/exec_frame.h"
#include "telemetry/escape.h"

namespace laneway::handler {
namespace {

using nlohmann::json;

constexpr std::size_t longest_reason = 1000;
constexpr Duration longest_after = std::chrono::hours(24);
constexpr std::array<std::string_view, 4> outcome_names = {"done", "retry", "reject", "unavailable"};

Error nonsense(std::string what) { return {ErrorKind::internal, std::move(what), ""}; }

Outcome outcome_of(std::size_t index, std::string_view reason, std::optional<Duration> after) {
  if (after) after = std::min(*after, longest_after);
  std::string text = exec_excerpt(reason, longest_reason);
  switch (index) {
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

/// The member, unless it is not there or null.
const json* member(const json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

/// The answer is shown as it came: printing a member of it would recurse as deep as it is nested.
Error wrong_member(const std::string& name, const std::string& expected, std::string_view frame) {
  return nonsense("has another " + name + " than " + expected + ": " + exec_excerpt(frame));
}

Result<std::optional<Duration>> after_of(const json& object, std::string_view frame) {
  const json* after = member(object, "after");
  if (after == nullptr) return std::optional<Duration>();
  if (after->is_string())
    if (const auto parsed = config::parse_duration(after->get_ref<const std::string&>()))
      return std::optional(*parsed);
  return wrong_member("after", "a duration such as \"5s\"", frame);
}

Result<Outcome> json_answer(std::string_view frame, std::uint64_t id) {
  const json object = json::parse(frame, nullptr, false);
  if (object.is_discarded()) return nonsense("is not JSON: " + exec_excerpt(frame));
  if (!object.is_object()) return nonsense("is no JSON object: " + exec_excerpt(frame));
  const json* own = member(object, "id");
  if (own != nullptr && *own != id) return wrong_member("id", "the record's, " + std::to_string(id), frame);
  const json* outcome = member(object, "outcome");
  if (outcome == nullptr) return nonsense("has no outcome: " + exec_excerpt(frame));
  const auto name = std::find_if(outcome_names.begin(), outcome_names.end(),
                                 [&](std::string_view each) { return *outcome == each; });
  if (name == outcome_names.end())
    return wrong_member("outcome", "done, retry, reject and unavailable", frame);
  const json* reason = member(object, "reason");
  if (reason != nullptr && !reason->is_string()) return wrong_member("reason", "a text", frame);
  const auto after = after_of(object, frame);
  if (!after) return after.error();
  return outcome_of(static_cast<std::size_t>(name - outcome_names.begin()),
                    reason == nullptr ? "" : reason->get_ref<const std::string&>(), *after);
}

Result<Outcome> binary_answer(std::string_view frame, std::uint64_t id) {
  constexpr std::size_t fixed = 1 + 8 + 1 + 8;
  if (frame.size() < fixed)
    return nonsense("has " + std::to_string(frame.size()) + " bytes, less than the " + std::to_string(fixed) +
                    " of an answer");
  const auto version = static_cast<unsigned char>(frame[0]);
  if (version != exec_version)
    return nonsense("has version " + std::to_string(version) + " instead of " + std::to_string(exec_version));
  if (const auto own = read_big_endian<std::uint64_t>(frame.substr(1)); own != id)
    return nonsense("has id " + std::to_string(own) + " instead of the record's, " + std::to_string(id));
  const auto outcome = static_cast<unsigned char>(frame[9]);
  if (outcome >= outcome_names.size())
    return nonsense("has outcome " + std::to_string(outcome) + " instead of 0 to 3");
  const auto after = static_cast<std::int64_t>(read_big_endian<std::uint64_t>(frame.substr(10)));
  if (after < -1) return nonsense("has after " + std::to_string(after) + " instead of -1 or more");
  const auto longest = duration_cast<milliseconds>(longest_after).count();
  return outcome_of(
      outcome, frame.substr(fixed),
      after == -1 ? std::nullopt : std::optional<Duration>(milliseconds(std::min(after, longest))));
}

}  // namespace

Result<Outcome> exec_answer(config::Framing framing, std::string_view frame, std::uint64_t id) {
  return framing == config::Framing::json ? json_answer(frame, id) : binary_answer(frame, id);
}

std::string exec_excerpt(std::string_view bytes, std::size_t longest) {
  std::string out;
  telemetry::append_escaped(out, bytes.substr(0, longest));
  if (bytes.size() > longest) out += "...";
  return out;
}

}  // namespace laneway::handler
