#include "handler/exec/exec_answer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/big_endian.h"
#include "base/outside_json.h"
#include "handler/exec/exec_frame.h"
#include "telemetry/escape.h"

namespace laneway::handler {
namespace {

using nlohmann::json;

Result<Outcome> json_answer(std::string_view frame, std::uint64_t id) {
  const json object = parse_outside_json(frame);
  if (object.is_discarded()) return nonsense("is not JSON: " + telemetry::excerpt(frame));
  if (!object.is_object()) return nonsense("is not a JSON object: " + telemetry::excerpt(frame));
  const auto own = object.find("id");
  if (own != object.end() && !own->is_null() && *own != id)
    return nonsense("has the wrong id (expected " + std::to_string(id) + "): " + telemetry::excerpt(frame));
  return verdict_of_json(object, frame);
}

Result<Outcome> binary_answer(std::string_view frame, std::uint64_t id) {
  constexpr std::size_t fixed = 1 + 8 + 1 + 8;
  if (frame.size() < fixed)
    return nonsense("has " + std::to_string(frame.size()) + " bytes; an answer has at least " +
                    std::to_string(fixed));
  const auto version = static_cast<unsigned char>(frame[0]);
  if (version != exec_version)
    return nonsense("has version " + std::to_string(version) + " (expected " + std::to_string(exec_version) +
                    ")");
  if (const auto own = read_big_endian<std::uint64_t>(frame.substr(1)); own != id)
    return nonsense("has id " + std::to_string(own) + " (expected " + std::to_string(id) + ")");
  const auto outcome = static_cast<unsigned char>(frame[9]);
  if (outcome > 3) return nonsense("has outcome " + std::to_string(outcome) + " (expected 0 to 3)");
  const auto after = static_cast<std::int64_t>(read_big_endian<std::uint64_t>(frame.substr(10)));
  if (after < -1) return nonsense("has after " + std::to_string(after) + " (expected -1 or more)");
  const auto longest = duration_cast<milliseconds>(longest_after).count();
  return verdict_of_parts(
      outcome, frame.substr(fixed),
      after == -1 ? std::nullopt : std::optional<Duration>(milliseconds(std::min(after, longest))));
}

}  // namespace

Result<Outcome> exec_answer(config::Framing framing, std::string_view frame, std::uint64_t id) {
  return framing == config::Framing::json ? json_answer(frame, id) : binary_answer(frame, id);
}

}  // namespace laneway::handler
