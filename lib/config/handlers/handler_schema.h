// Everything that the configuration knows about one handler, apart from the struct of its settings. Each
// handler has a source with its schema_of() and no header; handlers.h has the table. Files with secrets and
// certificates are read when their keys are set; otherwise pure.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/client/client_keys.h"
#include "config/config.h"
#include "config/property.h"
#include "config/yaml/problem.h"

namespace laneway::config {

class RuleContext;
struct CommandPlace;

/// The handler's section of docs/configuration.md.
struct ReferenceSection {
  int position = 0;  ///< among the handlers, also in full.yaml
  const char* text = "";
  const char* example = "";  ///< YAML
};

/// What a running record of a handler occupies.
enum class Occupies : std::uint8_t {
  nothing,  ///< the handler is asynchronous (handler/handler.h)
  thread,
  core,  ///< and a thread: the work computes, so a stage of pools is as large as the processor
};

/// What a handler writes to Kafka.
struct HandlerOutput {
  struct Topic {
    std::string key;   ///< of the configuration
    std::string text;  ///< may contain {topic}
  };
  const ClientSettings& client;  ///< of the handler's own client; the others are those of `kafka`
  bool transactional;
  std::vector<Topic> topics;  ///< in the cluster that is consumed
};

/// No column has a default: a handler that leaves one out does not compile.
struct HandlerTraits {
  Occupies occupies;
  bool gives_results;  ///< a record can become sub-jobs; if false, the record itself goes on
  bool does_work;      ///< hints propose it; if false, it is for trying settings
  /// Nullptr if the handler writes nothing to Kafka.
  HandlerOutput (*output)(const HandlerSettings& handler);
  /// The program that the handler starts, for people; nullptr if it starts none.
  std::string (*program)(const HandlerSettings& handler);
};

struct HandlerSchema {
  std::string_view name;  ///< its keys stand below handler.<name>
  Rows (*properties)();
  /// Finds missing and contradicting keys; nullptr if the handler has no such rules. `handler` of this
  /// function and the next ones are settings of this handler.
  void (*check)(const HandlerSettings& handler, RuleContext& rules) = nullptr;
  /// Settings that are allowed but rarely intended.
  std::vector<std::string> (*warnings)(const HandlerSettings& handler, const Config& config) = nullptr;
  /// Changes the defaults of keys that are not in `settings`, if other keys of the service's handler require
  /// it.
  void (*set_dependent_defaults)(Config& config, const Settings& settings) = nullptr;
  /// Replaces names of programs and files in the settings by their absolute paths, or refuses them.
  void (*resolve)(HandlerSettings& handler, const CommandPlace& place, RuleContext& rules) = nullptr;
  HandlerTraits traits;
  ReferenceSection section = {};
  HandlerSettings defaults = {};  ///< handlers() sets it
};

/// A row of a handler's table. `access`: from the settings to the field, such as &HttpSettings::url.
template <class Settings>
struct HandlerRow : Property {
  template <class Form, class Access>
  HandlerRow(std::string name_, const Form& form, Access access, std::string description_,
             std::string example_ = "")
      : Property(
            std::move(name_), handler_at_start, form,
            [access](auto& scope) -> decltype(auto) {
              return std::invoke(access, std::get<Settings>(scope.handler));
            },
            std::move(description_), std::move(example_)) {}
};
template <class Settings>
Rows rows_of(std::initializer_list<HandlerRow<Settings>> rows) {
  return {rows.begin(), rows.end()};
}

/// In exec.cpp and so on.
HandlerSchema schema_of(const LogSettings&);
HandlerSchema schema_of(const SimulateSettings&);
HandlerSchema schema_of(const HttpSettings&);
HandlerSchema schema_of(const ExecSettings&);
HandlerSchema schema_of(const PluginSettings&);
HandlerSchema schema_of(const ProduceSettings&);
HandlerSchema schema_of(const FanOutSettings&);

}  // namespace laneway::config
