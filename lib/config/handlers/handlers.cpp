#include "config/handlers/handlers.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "config/handlers/exec.h"
#include "config/handlers/fan_out.h"
#include "config/handlers/http.h"
#include "config/handlers/log.h"
#include "config/handlers/plugin.h"
#include "config/handlers/produce.h"
#include "config/handlers/simulate.h"

namespace laneway::config {
namespace {

template <class... Alternatives>
std::vector<HandlerSchema> in_order_of_settings(const HandlerSchemaOf<Alternatives>&... rows) {
  static_assert(std::is_same_v<HandlerSettings, std::variant<Alternatives...>>,
                "one row for each alternative of HandlerSettings, in the same order");
  return {rows...};
}

}  // namespace

const std::vector<HandlerSchema>& handlers() {
  static const auto table = in_order_of_settings(  //
      log_schema(),                                //
      simulate_schema(),                           //
      http_schema(),                               //
      exec_schema(),                               //
      plugin_schema(),                             //
      produce_schema(),                            //
      fan_out_schema());
  return table;
}

std::vector<const HandlerSchema*> handlers_of_reference() {
  std::vector<const HandlerSchema*> ordered;
  for (const HandlerSchema& handler : handlers()) ordered.push_back(&handler);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto* a, const auto* b) { return a->section.position < b->section.position; });
  return ordered;
}

const HandlerSchema* find_handler(std::string_view name) {
  const auto& table = handlers();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& handler) { return handler.name == name; });
  return found == table.end() ? nullptr : &*found;
}

const HandlerSchema& handler_of(const Config& config) { return handlers()[config.handler.index()]; }

std::vector<std::string> handler_names() {
  std::vector<std::string> names;
  for (const HandlerSchema& handler : handlers()) names.emplace_back(handler.name);
  return names;
}

}  // namespace laneway::config
