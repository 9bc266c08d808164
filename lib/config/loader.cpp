#include "config/loader.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "config/checks/rule_context.h"
#include "config/client/client_keys.h"
#include "config/handlers/exec_command.h"
#include "config/handlers/handlers.h"
#include "config/load/application.h"
#include "config/load/service_links.h"
#include "config/load/settings_of_file.h"
#include "config/rules/rules.h"
#include "config/schema/schema.h"
#include "config/schema/trace_headers.h"
#include "config/text.h"
#include "config/yaml/read_file.h"

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

/// Names of programs and files in the settings of the handlers.
void resolve_files(Config& config, const Settings& settings, const Expected& expected, const Source& source,
                   Problems& problems) {
  CommandPlace place;
  place.folder = std::filesystem::path(source.file).parent_path().string();
  if (const auto path = source.environment.find("PATH"); path != source.environment.end())
    place.path = path->second;
  const auto resolve = [&](HandlerSettings& handler, const PoolSettings& pool) {
    RuleContext rules(config, pool, settings, expected, problems);
    if (const auto files = handler_of(handler).resolve) files(handler, place, rules);
  };
  resolve(config.handler, config.unnamed);
  for (PoolSettings& pool : config.pools)
    if (pool.handler) resolve(*pool.handler, pool);
}

Loaded finish(bool read, std::vector<Setting> all, const Source& source, Problems& problems) {
  const auto named = pools_of_file(all);
  const auto* pools = read ? &named : nullptr;
  auto more = settings_of_environment(source.environment, pools, problems);
  std::move(more.begin(), more.end(), std::back_inserter(all));
  more = settings_of_command_line(source.sets, pools, problems);
  std::move(more.begin(), more.end(), std::back_inserter(all));

  Loaded loaded;
  Config config;
  const Settings settings = merge(std::move(all), problems);
  apply_settings(config, settings, named, problems);
  if (wants_dead_letters(settings)) config.dead_letter.topic = default_dead_letter_topic;
  if (const auto set_defaults = handler_of(config.handler).set_dependent_defaults)
    set_defaults(config, settings);
  if (read) {
    const Expected expected{{Layer::file, source.file, {}}, source.own_handler, source.complete};
    if (source.runs_handler) resolve_files(config, settings, expected, source, problems);
    check_rules(config, settings, expected, problems);
  }
  order_pools(config.pools);
  add_client_defaults(config);
  add_trace_headers(config, source.environment, problems);
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
