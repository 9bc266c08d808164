#include "config/handlers/handlers.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "config/text.h"

namespace laneway::config {
namespace {

template <class Settings>
HandlerSchema row_of() {
  auto row = schema_of(Settings());
  row.defaults = Settings();
  return row;
}

template <class... Settings>
std::vector<HandlerSchema> table_of(std::type_identity<std::variant<Settings...>>) {
  return {row_of<Settings>()...};
}

}  // namespace

const std::vector<HandlerSchema>& handlers() {
  static const auto table = table_of(std::type_identity<HandlerSettings>());
  return table;
}

std::vector<const HandlerSchema*> handlers_of_reference() {
  std::vector<const HandlerSchema*> ordered;
  for (const HandlerSchema& handler : handlers()) ordered.push_back(&handler);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto* a, const auto* b) { return a->section.position < b->section.position; });
  return ordered;
}

const HandlerSchema* find_handler(std::string_view name) { return find_named(handlers(), name); }

const HandlerSchema& handler_of(const HandlerSettings& handler) { return handlers()[handler.index()]; }

std::optional<HandlerOutput> output_of(const HandlerSettings& handler) {
  const auto output = handler_of(handler).traits.output;
  return output == nullptr ? std::nullopt : std::optional(output(handler));
}

std::vector<std::string> handler_names() {
  std::vector<std::string> names;
  for (const HandlerSchema& handler : handlers()) names.emplace_back(handler.name);
  return names;
}

std::string handlers_with(bool (*wanted)(const HandlerTraits& traits)) {
  std::vector<std::string> names;
  for (const HandlerSchema& handler : handlers())
    if (handler.traits.does_work && wanted(handler.traits)) names.emplace_back(handler.name);
  const std::string last = names.back();
  names.pop_back();
  return names.empty() ? last : join(names, ", ") + " or " + last;
}

}  // namespace laneway::config
