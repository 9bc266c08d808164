#include "config/loader.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "config/client/client_keys.h"
#include "config/handlers/exec_command.h"
#include "config/handlers/handlers.h"
#include "config/rules/rule_context.h"
#include "config/rules/rules.h"
#include "config/schema/schema.h"
#include "config/text.h"
#include "config/yaml/read_file.h"
#include "config/yaml/service_links.h"
#include "config/yaml/settings_of_file.h"

namespace laneway::config {
namespace {

constexpr std::size_t max_reported = 50;

/// The settings of a file's text; false if the text is not a map.
bool read_text(std::string_view text, const Source& source, std::vector<Setting>& settings,
               Problems& problems) {
  const auto at = [&](Position position) { return SettingPlace{Layer::file, source.file, position}; };
  if (text.size() > max_file_bytes) {
    problems.add(at({}), "", "the file is larger than 1MiB", "check that this is the right file");
    return false;
  }
  const Document document = parse_document(text);
  for (const Fault& fault : document.faults)
    problems.add(at(fault.position), fault.key, fault.what, fault.hint);
  if (!document.complete) return false;
  if (document.root.is_null()) {
    problems.add(at({}), "", "the file is empty",
                 "write at least kafka, topics and handler; laneway help keys prints all keys");
    return false;
  }
  if (!document.root.is_map()) {
    problems.add(at(document.root.position), "", "found " + shown(document.root),
                 "expected keys with values, such as topics: [orders]");
    return false;
  }
  auto found = settings_of_file(document.root, source.file, source.environment, problems);
  std::move(found.begin(), found.end(), std::back_inserter(settings));
  return true;
}

/// Puts settings into a Config, one after the other.
class Application {
 public:
  Application(Config& config, Problems& problems) : config_(config), problems_(problems) {}

  void apply(const Settings& settings) {
    choose_handler(settings);
    for (const auto& [path, setting] : settings) {
      if (path.starts_with("kafka.")) {
        apply_client_key(path.substr(6), setting);
      } else if (const Property* property = find_property(path); property != nullptr && applies(path)) {
        if (const auto bad = property->set(config_, setting.value))
          complain(setting, *bad, property->expects + list_hint(*property, setting));
      }
    }
  }

 private:
  /// Settings of a handler apply when it was chosen.
  bool applies(const std::string& path) const {
    return !path.starts_with("handler.") || path.starts_with("handler." + chosen_ + ".");
  }

  /// For several words that were written as one text.
  static std::string list_hint(const Property& property, const Setting& setting) {
    const Node& value = setting.value;
    const bool pattern = value.text.starts_with('^');
    if (!property.list || !value.is_scalar() || pattern || value.text.find_first_of(", ") == value.text.npos)
      return "";
    return how_to_write_list(setting.place, setting.path, value.written ? *value.written : value.text);
  }

  void complain(const Setting& setting, const BadValue& bad, const std::string& expects) {
    SettingPlace place = setting.place;
    if (place.layer == Layer::file && bad.node.position.line > 0) place.position = bad.node.position;
    problems_.add(place, setting.path, found_message(bad.node, bad.what), "expected " + expects);
  }

  /// In the order of precedence, so that a second handler is reported where it was added.
  void choose_handler(const Settings& settings) {
    std::vector<const Setting*> about_handler;
    for (const auto& [path, setting] : settings)
      if (path == "handler" || path.starts_with("handler.")) about_handler.push_back(&setting);
    std::stable_sort(about_handler.begin(), about_handler.end(),
                     [](const Setting* a, const Setting* b) { return a->place.layer < b->place.layer; });
    for (const Setting* setting : about_handler) choose_of(*setting);
  }

  void choose_of(const Setting& setting) {
    const auto parts = split(setting.path, ".");
    if (parts.size() == 1) return choose(setting, setting.value.is_scalar() ? setting.value.text : "");
    choose(setting, parts[1]);
    if (parts.size() == 2 && !setting.value.is_null() && !setting.value.is_map())
      complain(setting, {setting.value, ""}, "a group of keys, " + example_of(parts[1]));
  }

  /// "such as exec: { command: [python3, handler.py] }"
  static std::string example_of(const std::string& handler) {
    if (const HandlerSchema* schema = find_handler(handler); schema != nullptr)
      for (const Property& property : schema->properties())
        if (!property.example.empty())
          return "such as " + handler + ": { " + property.name.substr(property.name.rfind('.') + 1) + ": " +
                 property.example + " }";
    return "or {}";
  }

  void choose(const Setting& setting, const std::string& name) {
    const HandlerSchema* handler = find_handler(name);
    if (handler == nullptr) {
      complain(setting, {setting.value, ""},
               "one of " + join(handler_names(), ", ") + ", with the settings of the handler below it");
    } else if (chosen_.empty()) {
      chosen_ = name;
      config_.handler = handler->defaults;
    } else if (chosen_ != name && !refused_second_) {
      refused_second_ = true;
      problems_.add(setting.place, setting.path,
                    "the handler " + chosen_ + " is set already, and a service has one handler",
                    "remove one of the two; --set handler=" + name + " replaces the handler of the file");
    }
  }

  void apply_client_key(const std::string& name, const Setting& setting) {
    const ClientKey* key = find_client_key(name);
    if (key == nullptr) return;
    if (!setting.value.is_scalar()) return complain(setting, {setting.value, ""}, key->expects());
    if (const auto objection = key->objection(setting.value.text)) {
      const std::string found =
          key->secret ? "the secret is refused: " + *objection : found_message(setting.value, *objection);
      problems_.add(setting.place, setting.path, found, "expected " + key->expects());
    } else if (const auto safe = key->names_secret ? check_owners_only(setting.value.text) : Status();
               !safe) {
      problems_.add(setting.place, setting.path, found_message(setting.value, safe.error().message),
                    safe.error().hint);
    } else {
      config_.kafka[name] = {setting.value.text, setting.place.text(), key->secret};
    }
  }

  Config& config_;
  Problems& problems_;
  std::string chosen_;
  bool refused_second_ = false;
};

void add_client_defaults(Config& config) {
  for (const ClientKey& key : client_keys())
    if (!key.default_value.empty())
      config.kafka.try_emplace(std::string(key.name),
                               ClientSetting{std::string(key.default_value), "default", false});
}

/// A dead_letter group without a topic enables dead letters with the usual name.
bool wants_dead_letters(const Settings& settings) {
  const auto first = settings.lower_bound("dead_letter.");
  return first != settings.end() && first->first.starts_with("dead_letter.") &&
         !settings.contains("dead_letter.topic");
}

/// Names of programs and files in the handler's settings.
void resolve_files(Config& config, const Settings& settings, const Expected& expected, const Source& source,
                   Problems& problems) {
  const auto resolve = handler_of(config).resolve;
  if (resolve == nullptr) return;
  CommandPlace place;
  place.folder = std::filesystem::path(source.file).parent_path().string();
  if (const auto path = source.environment.find("PATH"); path != source.environment.end())
    place.path = path->second;
  RuleContext rules(config, settings, expected, problems);
  resolve(config, place, rules);
}

Loaded finish(bool read, std::vector<Setting> all, const Source& source, Problems& problems) {
  auto more = settings_of_environment(source.environment, problems);
  std::move(more.begin(), more.end(), std::back_inserter(all));
  more = settings_of_command_line(source.sets, problems);
  std::move(more.begin(), more.end(), std::back_inserter(all));

  Loaded loaded;
  Config config;
  const Settings settings = merge(std::move(all), problems);
  Application(config, problems).apply(settings);
  if (wants_dead_letters(settings)) config.dead_letter.topic = default_dead_letter_topic;
  if (const auto set_defaults = handler_of(config).set_dependent_defaults) set_defaults(config, settings);
  if (read) {
    const Expected expected{{Layer::file, source.file, {}}, source.own_handler};
    if (source.runs_handler) resolve_files(config, settings, expected, source, problems);
    check_rules(config, settings, expected, problems);
  }
  add_client_defaults(config);
  loaded.errors = problems.sorted();
  if (loaded.errors.empty()) {
    loaded.warnings = warnings_about(config);
    if (auto warning = warning_about_service_links(source.environment))
      loaded.warnings.push_back(std::move(*warning));
    loaded.config = std::move(config);
  }
  return loaded;
}

}  // namespace

ErrorKind Loaded::kind() const {
  for (const ErrorKind kind : {ErrorKind::usage, ErrorKind::no_input})
    if (std::any_of(errors.begin(), errors.end(), [&](const Error& e) { return e.kind == kind; }))
      return kind;
  return ErrorKind::configuration;
}

Loaded load_text(std::string_view text, const Source& source) {
  Problems problems;
  std::vector<Setting> settings;
  const bool read = read_text(text, source, settings, problems);
  return finish(read, std::move(settings), source, problems);
}

Loaded load(const Source& source) {
  const auto text = read_file(source.file);
  if (text) return load_text(*text, source);
  Problems problems;
  const SettingPlace file{Layer::file, source.file, {}};
  const Error& error = text.error();
  if (error.kind == ErrorKind::no_input) {
    problems.add_no_input(file, error.message, error.hint);
  } else {
    problems.add(file, "", error.message, error.hint);
  }
  return finish(false, {}, source, problems);
}

std::string report(const std::vector<Error>& errors) {
  std::string out;
  for (std::size_t i = 0; i < std::min(errors.size(), max_reported); ++i) out += errors[i].text() + "\n";
  if (errors.size() > max_reported) out += "and " + std::to_string(errors.size() - max_reported) + " more\n";
  return out;
}

std::map<std::string, std::string> process_environment() {
  std::map<std::string, std::string> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals != text.npos) environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

}  // namespace laneway::config
