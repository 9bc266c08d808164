#include "config/reload.h"

#include "config/handlers/handlers.h"
#include "config/schema/schema.h"
#include "config/text.h"

namespace laneway::config {
namespace {

bool of_handler(const std::string& key, const std::string& name) {
  return !key.starts_with("handler.") || key.starts_with("handler." + name + ".");
}

/// If only a secret differs, both are printed the same.
Change change(std::string key, std::string before, std::string after, Reload reload) {
  if (before == after) before += before.empty() ? "(a secret)" : " (with another secret)";
  return {std::move(key), std::move(before), std::move(after), std::string(reload.restart_reason())};
}

std::string shown(const ClientSetting* setting) {
  if (setting == nullptr) return {};
  return setting->secret ? "\"*****\"" : yaml_scalar(setting->value);
}

void add_client_keys(const Config& before, const Config& after, std::vector<Change>& found) {
  const auto find = [](const Config& config, const std::string& key) {
    const auto entry = config.kafka.find(key);
    return entry == config.kafka.end() ? nullptr : &entry->second;
  };
  auto all = before.kafka;
  all.insert(after.kafka.begin(), after.kafka.end());
  for (const auto& [key, any] : all) {
    const auto* old = find(before, key);
    const auto* now = find(after, key);
    if (old != nullptr && now != nullptr && old->value == now->value) continue;
    found.push_back(change("kafka." + key, shown(old), shown(now), clients_at_start));
  }
}

}  // namespace

std::vector<Change> changes(const Config& before, const Config& after) {
  std::vector<Change> found;
  add_client_keys(before, after, found);
  const std::string name(handler_of(before).name);
  const std::string new_name(handler_of(after).name);
  const bool same_handler = name == new_name;
  if (!same_handler) found.push_back(change("handler", name, new_name, handler_at_start));
  for (const Property& property : properties()) {
    if (!of_handler(property.name, name) || (!same_handler && property.name.starts_with("handler.")))
      continue;
    if (property.same(before, after)) continue;
    found.push_back(change(property.name, property.print(before), property.print(after), property.reload));
  }
  return found;
}

std::string Change::text() const {
  const auto said = [](const std::string& value) { return value.empty() ? "(not set)" : value; };
  return key + ": " + said(before) + " → " + said(after);
}

std::string needs_restart(const std::vector<Change>& changes) {
  std::string text;
  for (const auto& change : changes)
    if (!change.restart.empty()) text += change.text() + ": needs a restart: " + change.restart + "\n";
  return text;
}

}  // namespace laneway::config
