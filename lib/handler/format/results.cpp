#include "handler/format/results.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/base64.h"
#include "base/utf8.h"
#include "handler/format/verdict_json.h"
#include "telemetry/escape.h"

namespace laneway::handler {
namespace {

using nlohmann::json;
using OwnBytes = std::optional<std::string>;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

/// Reads one result.
class ResultReader {
 public:
  ResultReader(const json& object, const Content& record) : object_(object), record_(record) {}

  /// False: `what` is the member that is invalid.
  bool read(Part& part) {
    const auto base64 = object_.find("base64");
    as_base64_ = base64 != object_.end() && *base64 == true;
    return read_id(part) && read_key(part) && read_value(part) && read_headers(part);
  }
  const std::string& what() const { return what_; }

 private:
  bool wrong(std::string what) {
    what_ = std::move(what);
    return false;
  }
  const json* member(const char* name) const {
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  bool read_id(Part& part) {
    const json* id = member("id");
    if (id == nullptr || id->is_null()) return true;
    if (!id->is_string()) return wrong("id (expected a text)");
    part.id = id->get_ref<const std::string&>();
    return true;
  }
  bool read_key(Part& part) {
    const json* key = member("key");
    return key == nullptr || bytes_of(*key, part.key) || wrong("key (expected a text, or base64)");
  }
  bool read_value(Part& part) {
    const json* value = member("value");
    if (value != nullptr) return bytes_of(*value, part.value) || wrong("value (expected a text, or base64)");
    if (const auto own = record_.value()) part.value = *own;
    return true;
  }
  bool read_headers(Part& part) {
    const json* headers = member("headers");
    if (headers == nullptr || headers->is_null()) return true;
    if (!headers->is_array()) return wrong("headers (expected a list)");
    for (const json& header : *headers) {
      OwnBytes value;
      if (!header.is_array() || header.size() != 2 || !header[0].is_string() || !bytes_of(header[1], value))
        return wrong("header (expected a list of its name and its value)");
      part.headers.emplace_back(header[0].get_ref<const std::string&>(), std::move(value));
    }
    return true;
  }
  bool bytes_of(const json& value, OwnBytes& out) const {
    out.reset();
    if (value.is_null()) return true;
    if (!value.is_string()) return false;
    const auto& text = value.get_ref<const std::string&>();
    out = as_base64_ ? decode_base64(text) : std::optional(text);
    return out.has_value();
  }

  const json& object_;
  const Content& record_;
  bool as_base64_ = false;
  std::string what_;
};

}  // namespace

std::string wrong_result_id(std::string_view id) {
  if (id.size() > longest_result_id)
    return "a result's id of " + std::to_string(id.size()) + " bytes (the longest has " +
           std::to_string(longest_result_id) + ")";
  if (invalid_utf8(id) || std::any_of(id.begin(), id.end(), is_control))
    return "a result's id that is not text: " + telemetry::excerpt(id);
  if (id.find('/') != std::string_view::npos)
    return "a result's id with a '/', which separates the ids of sub-jobs of sub-jobs: " +
           telemetry::excerpt(id);
  return {};
}

std::string wrong_results(const Parts& parts) {
  if (parts.size() > most_results)
    return std::to_string(parts.size()) + " results (a record has at most " + std::to_string(most_results) +
           ")";
  std::size_t size = 0;
  std::unordered_set<std::string> ids;
  for (const Part& part : parts) {
    size += size_of(part);
    if (auto wrong = wrong_result_id(part.id); !wrong.empty()) return wrong;
    auto id = part.id.empty() ? std::to_string(ids.size()) : part.id;
    if (!ids.insert(id).second) return "two results with the id " + telemetry::excerpt(id);
  }
  if (size > largest_results)
    return "results of " + std::to_string(size) + " bytes (at most " + std::to_string(largest_results) +
           " together)";
  return {};
}

Result<std::shared_ptr<Parts>> results_of_json(const json& list, const Content& record,
                                               std::string_view text) {
  if (!list.is_array()) return nonsense("has results that are not a list: " + telemetry::excerpt(text));
  auto parts = std::make_shared<Parts>();
  parts->reserve(std::min(list.size(), most_results));
  std::size_t size = 0;
  for (const json& object : list) {
    if (!object.is_object())
      return nonsense("has a result that is not a JSON object: " + telemetry::excerpt(text));
    ResultReader reader(object, record);
    if (!reader.read(parts->emplace_back()))
      return nonsense("has a result with an invalid " + reader.what() + ": " + telemetry::excerpt(text));
    size += size_of(parts->back());
    if (parts->size() > most_results || size > largest_results) break;  // copies of the record's value grow
  }
  if (auto wrong = wrong_results(*parts); !wrong.empty()) return nonsense("has " + wrong);
  return parts;
}

}  // namespace laneway::handler
