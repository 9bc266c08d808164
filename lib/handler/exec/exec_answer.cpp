#include "handler/exec/exec_answer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/big_endian.h"
#include "base/outside_json.h"
#include "handler/exec/exec_frame.h"
#include "handler/format/results.h"
#include "telemetry/escape.h"

namespace laneway::handler {
namespace {

using nlohmann::json;

Result<Outcome> json_answer(std::string_view frame, std::uint64_t id, const Content* record) {
  const json object = parse_outside_json(frame);
  if (object.is_discarded()) return nonsense("is not JSON: " + telemetry::excerpt(frame));
  if (!object.is_object()) return nonsense("is not a JSON object: " + telemetry::excerpt(frame));
  const auto own = object.find("id");
  if (own != object.end() && !own->is_null() && *own != id)
    return nonsense("has the wrong id (expected " + std::to_string(id) + "): " + telemetry::excerpt(frame));
  return verdict_of_json(object, frame, record);
}

/// Reads the fields of a binary answer one after the other.
class FieldReader {
 public:
  explicit FieldReader(std::string_view rest) : rest_(rest) {}

  std::uint32_t number() {
    if (rest_.size() < sizeof(std::uint32_t)) return fail();
    const auto number = read_big_endian<std::uint32_t>(rest_);
    rest_.remove_prefix(sizeof number);
    return number;
  }
  std::optional<std::string> bytes() {
    const auto size = number();
    if (failed_ || size == ~std::uint32_t{0}) return std::nullopt;
    if (size > rest_.size()) return fail(), std::nullopt;
    std::string bytes(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return bytes;
  }
  bool failed() const { return failed_; }
  bool at_end() const { return rest_.empty() && !failed_; }

 private:
  std::uint32_t fail() {
    failed_ = true;
    rest_ = {};
    return 0;
  }

  std::string_view rest_;
  bool failed_ = false;
};

Part read_result(FieldReader& fields) {
  Part part;
  part.id = fields.bytes().value_or("");
  part.key = fields.bytes();
  part.value = fields.bytes();
  for (auto headers = fields.number(); headers > 0 && !fields.failed(); --headers) {
    auto name = fields.bytes().value_or("");
    part.headers.emplace_back(std::move(name), fields.bytes());
  }
  return part;
}

Result<Outcome> binary_results(std::string_view rest) {
  FieldReader fields(rest);
  const auto count = fields.number();
  if (count > most_results)
    return nonsense("has " + std::to_string(count) + " results (a record has at most " +
                    std::to_string(most_results) + ")");
  Parts parts;
  for (std::uint32_t i = 0; i < count && !fields.failed(); ++i) parts.push_back(read_result(fields));
  if (!fields.at_end()) return nonsense("has results that do not fill its frame");
  if (auto wrong = wrong_results(parts); !wrong.empty()) return nonsense("has " + wrong);
  return Outcome::done(std::move(parts));
}

Result<Outcome> binary_answer(std::string_view frame, std::uint64_t id, const Content* record) {
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
  constexpr int with_results = 4;
  if (outcome > with_results)
    return nonsense("has outcome " + std::to_string(outcome) + " (expected 0 to 4)");
  if (outcome == with_results)
    return record == nullptr ? Outcome::done() : binary_results(frame.substr(fixed));
  const auto after = static_cast<std::int64_t>(read_big_endian<std::uint64_t>(frame.substr(10)));
  if (after < -1) return nonsense("has after " + std::to_string(after) + " (expected -1 or more)");
  const auto longest = duration_cast<milliseconds>(longest_after).count();
  return verdict_of_parts(
      outcome, frame.substr(fixed),
      after == -1 ? std::nullopt : std::optional<Duration>(milliseconds(std::min(after, longest))));
}

}  // namespace

Result<Outcome> exec_answer(config::Framing framing, std::string_view frame, std::uint64_t id,
                            const Content* record) {
  return framing == config::Framing::json ? json_answer(frame, id, record) : binary_answer(frame, id, record);
}

}  // namespace laneway::handler
