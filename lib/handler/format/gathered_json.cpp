#include "handler/format/gathered_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/base64.h"
#include "base/utf8.h"

namespace laneway::handler {
namespace {

using Json = nlohmann::ordered_json;
using Bytes = std::optional<std::string>;

bool is_text(const Bytes& bytes) { return !bytes || !invalid_utf8(*bytes); }

Json json_of(const Bytes& bytes, bool as_base64) {
  if (!bytes) return nullptr;
  return as_base64 ? base64(*bytes) : *bytes;
}

Json json_of(const Part& part) {
  const bool as_base64 = !is_text(part.key) || !is_text(part.value) ||
                         !std::all_of(part.headers.begin(), part.headers.end(),
                                      [](const auto& header) { return is_text(header.second); });
  Json json = Json::object();
  if (!part.id.empty()) json["id"] = part.id;
  if (part.key) json["key"] = json_of(part.key, as_base64);
  json["value"] = json_of(part.value, as_base64);
  if (!part.headers.empty()) json["headers"] = Json::array();
  for (const auto& [name, value] : part.headers)
    json["headers"].push_back(Json::array({name, json_of(value, as_base64)}));
  if (as_base64) json["base64"] = true;
  return json;
}

}  // namespace

std::string gathered_json(const std::vector<Gathering::Result>& results) {
  Json all = Json::array();
  for (const auto& result : results) {
    Json json = {{"id", result.id}};
    if (result.given_up) {
      json["given_up"] = true;
    } else {
      json["results"] = Json::array();
      if (result.parts)
        for (const auto& part : *result.parts) json["results"].push_back(json_of(part));
    }
    all.push_back(std::move(json));
  }
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace laneway::handler
