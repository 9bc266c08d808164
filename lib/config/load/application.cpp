#include "config/load/application.h"

#include <algorithm>
#include <vector>

#include "config/client/client_keys.h"
#include "config/handlers/handlers.h"
#include "config/load/settings.h"
#include "config/pools/pool_path.h"
#include "config/schema/schema.h"
#include "config/text.h"
#include "config/yaml/read_file.h"

namespace laneway::config {
namespace {

/// For several words that were written as one text.
std::string list_hint(const Property& property, const Setting& setting) {
  const Node& value = setting.value;
  const bool pattern = value.text.starts_with('^');
  if (!property.list || !value.is_scalar() || pattern || value.text.find_first_of(", ") == value.text.npos)
    return "";
  return how_to_write_list(setting.place, setting.path, value.written ? *value.written : value.text);
}

/// "such as exec: { command: [python3, handler.py] }"
std::string example_of(const std::string& handler) {
  if (const HandlerSchema* schema = find_handler(handler); schema != nullptr)
    for (const Property& property : schema->properties())
      if (!property.example.empty())
        return "such as " + handler + ": { " + property.name.substr(property.name.rfind('.') + 1) + ": " +
               property.example + " }";
  return "or {}";
}

bool about_handler(const std::string& key) { return key == "handler" || key.starts_with("handler."); }

}  // namespace

void Application::apply(const Settings& settings) {
  std::vector<const Setting*> own;
  for (const auto& [path, setting] : settings)
    if (path.starts_with(scope_) && (!scope_.empty() || !pool_path(path))) own.push_back(&setting);
  choose_handler(own);
  for (const Setting* setting : own) {
    const auto& path = setting->path;
    if (path.starts_with("kafka.")) {
      apply_client_key(path.substr(6), *setting);
    } else if (const Property* property = find_property(path);
               property != nullptr && applies(local(*setting))) {
      if (const auto bad = property->set(config_, setting->value))
        complain(*setting, *bad, property->expects + list_hint(*property, *setting));
    }
  }
}

/// Settings of a handler apply when it was chosen.
bool Application::applies(const std::string& key) const {
  return !key.starts_with("handler.") || key.starts_with("handler." + chosen_ + ".");
}

void Application::complain(const Setting& setting, const BadValue& bad, const std::string& expects) {
  SettingPlace place = setting.place;
  if (place.layer == Layer::file && bad.node.position.line > 0) place.position = bad.node.position;
  problems_.add(place, setting.path, found_message(bad.node, bad.what), "expected " + expects);
}

/// In the order of precedence, so that a second handler is reported where it was added.
void Application::choose_handler(const std::vector<const Setting*>& settings) {
  std::vector<const Setting*> ordered;
  for (const Setting* setting : settings)
    if (about_handler(local(*setting))) ordered.push_back(setting);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const Setting* a, const Setting* b) { return a->place.layer < b->place.layer; });
  for (const Setting* setting : ordered) choose_of(*setting);
}

void Application::choose_of(const Setting& setting) {
  const auto parts = split(local(setting), ".");
  if (parts.size() == 1) return choose(setting, setting.value.is_scalar() ? setting.value.text : "");
  choose(setting, parts[1]);
  if (parts.size() == 2 && !setting.value.is_null() && !setting.value.is_map())
    complain(setting, {setting.value, ""}, "a group of keys, " + example_of(parts[1]));
}

void Application::choose(const Setting& setting, const std::string& name) {
  const HandlerSchema* handler = find_handler(name);
  if (handler == nullptr) {
    complain(setting, {setting.value, ""},
             "one of " + join(handler_names(), ", ") + ", with the settings of the handler below it");
  } else if (chosen_.empty()) {
    chosen_ = name;
    config_.handler = handler->defaults;
  } else if (chosen_ != name && !refused_second_) {
    refused_second_ = true;
    const std::string one = scope_.empty() ? "a service has one handler" : "a pool has one handler";
    problems_.add(
        setting.place, setting.path, "the handler " + chosen_ + " is set already, and " + one,
        "remove one of the two; --set " + scope_ + "handler=" + name + " replaces the handler of the file");
  }
}

void Application::apply_client_key(const std::string& name, const Setting& setting) {
  const ClientKey* key = find_client_key(name);
  if (key == nullptr) return;
  if (!setting.value.is_scalar()) return complain(setting, {setting.value, ""}, key->expects());
  if (const auto objection = key->objection(setting.value.text)) {
    const std::string found =
        key->secret ? "the secret is refused: " + *objection : found_message(setting.value, *objection);
    problems_.add(setting.place, setting.path, found, "expected " + key->expects());
  } else if (const auto safe = key->names_secret() ? check_owners_only(setting.value.text) : Status();
             !safe) {
    problems_.add(setting.place, setting.path, found_message(setting.value, safe.error().message),
                  safe.error().hint);
  } else {
    config_.kafka[name] = {setting.value.text, setting.place.text(), key->secret};
  }
}

}  // namespace laneway::config
