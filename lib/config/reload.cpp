#include "config/reload.h"

#include "config/handlers/handlers.h"
#include "config/pools/pool_path.h"
#include "config/pools/pool_scope.h"
#include "config/schema/schema.h"
#include "config/text.h"

namespace laneway::config {
namespace {

constexpr Reload pools_at_start = Reload::restart("the pools are created with the lanes");

/// If only a secret differs, both are printed the same.
SettingChange change(std::string key, std::string before, std::string after, Reload reload) {
  if (before == after) before += before.empty() ? "(a secret)" : " (with another secret)";
  return {std::move(key), std::move(before), std::move(after), std::string(reload.restart_reason())};
}

SettingChange change_of(const Property& property, std::string key, const ConstScope& before,
                        const ConstScope& after) {
  auto found = change(std::move(key), property.print(before), property.print(after), property.reload);
  if (property.restart_for && found.restart.empty()) found.restart = property.restart_for(before, after);
  return found;
}

std::string shown(const ClientSetting* setting) {
  if (setting == nullptr) return {};
  return setting->secret ? "\"*****\"" : yaml_scalar(setting->value);
}

void add_client_keys(const Config& before, const Config& after, std::vector<SettingChange>& found) {
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

void add_handler_changes(const ConstScope& before, const ConstScope& after,
                         std::vector<SettingChange>& found) {
  const auto scope = before.pool.scope();
  const std::string name(handler_of(before.handler).name);
  const std::string new_name(handler_of(after.handler).name);
  if (name != new_name) return found.push_back(change(scope + "handler", name, new_name, handler_at_start));
  for (const Property& property : handler_of(before.handler).properties())
    if (!property.same(before, after))
      found.push_back(change_of(property, scope + property.name, before, after));
}

void add_pool_changes(const Config& before, const Config& after, std::vector<SettingChange>& found) {
  const auto list = [](const Config& config) { return "[" + join(names_of(config.pools), ", ") + "]"; };
  if (list(before) != list(after))
    return found.push_back(change("pools", list(before), list(after), pools_at_start));
  for (std::size_t i = 0; i < before.pools.size(); ++i) {
    const ConstScope one(before, before.pools[i]);
    const ConstScope other(after, after.pools[i]);
    for (const Property& property : properties())
      if (property.name.starts_with(pool_rows) && !property.same(one, other))
        found.push_back(change_of(property, name_in_pool(one.pool.name, property.name), one, other));
    if (one.pool.handler || other.pool.handler) add_handler_changes(one, other, found);
  }
}

}  // namespace

std::vector<SettingChange> changes(const Config& before, const Config& after) {
  std::vector<SettingChange> found;
  add_client_keys(before, after, found);
  if (shows_handler(before) && shows_handler(after)) add_handler_changes(before, after, found);
  for (const Property& property : properties()) {
    if (property.name.starts_with("handler.") || property.name.starts_with(pool_rows)) continue;
    if (!property.same(before, after)) found.push_back(change_of(property, property.name, before, after));
  }
  add_pool_changes(before, after, found);
  return found;
}

std::string SettingChange::text() const {
  const auto said = [](const std::string& value) { return value.empty() ? "(not set)" : value; };
  return key + ": " + said(before) + " → " + said(after);
}

std::string needs_restart(const std::vector<SettingChange>& changes) {
  std::string text;
  for (const auto& change : changes)
    if (!change.restart.empty()) text += change.text() + ": needs a restart: " + change.restart + "\n";
  return text;
}

}  // namespace laneway::config
