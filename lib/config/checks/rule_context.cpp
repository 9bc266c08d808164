#include "config/checks/rule_context.h"

#include <algorithm>

#include "config/text.h"

namespace laneway::config {

std::string RuleContext::placed(const std::string& key) const { return is_handler(key) ? scope_ + key : key; }

const Setting* RuleContext::handler_setting() const {
  const auto found = std::find_if(settings_.begin(), settings_.end(), [&](const auto& item) {
    return item.first == placed("handler") || item.first.starts_with(placed("handler."));
  });
  return found == settings_.end() ? nullptr : &found->second;
}

std::string RuleContext::client(const std::string& key) const { return lower(config_.client(key)); }

void RuleContext::refuse(const std::vector<std::string>& keys, const std::string& what,
                         const std::string& hint) {
  if (std::any_of(keys.begin(), keys.end(), [&](const auto& key) { return concern(key); })) return;
  for (const std::string& key : keys) {
    const auto found = settings_.find(placed(key));
    if (found == settings_.end()) continue;
    problems_.add(found->second.place, found->first, what, hint);
    return;
  }
}

void RuleContext::require(const std::string& key, const std::string& hint) {
  if (expected_.complete && !given(key) && !concern(key))
    problems_.add(expected_.file, key, "this key is missing", hint);
}

void RuleContext::require_handler(const std::string& hint) {
  const auto* setting = handler_setting();
  if (setting == nullptr && !expected_.own_handler) require("handler", hint);
  if (setting != nullptr && expected_.own_handler)
    problems_.add(setting->place, setting->path, "this program does the work itself and takes no handler",
                  "remove this key");
}

void RuleContext::refuse_handler(const std::string& what, const std::string& hint) {
  if (const auto* setting = handler_setting(); setting != nullptr && !concern("handler"))
    problems_.add(setting->place, setting->path, what, hint);
}

void RuleContext::require_of_handler(const std::string& key, const std::string& hint) {
  const auto section = placed(key.substr(0, key.rfind('.')));
  if ((expected_.own_handler && scope_.empty()) || concern(key) || problems_.about(section)) return;
  const auto first = std::find_if(settings_.begin(), settings_.end(), [&](const auto& item) {
    return item.first == placed("handler") || item.first.starts_with(section);
  });
  if (first != settings_.end()) problems_.add(first->second.place, placed(key), "this key is missing", hint);
}

std::vector<ConnectionProblem> RuleContext::new_connection_problems(const ClientSettings& all,
                                                                    const ClientSettings& own) const {
  auto problems = connection_problems({all, own, config_.allow_insecure || concern("allow_insecure")});
  std::erase_if(problems, [&](const ConnectionProblem& problem) {
    return !problem.missing.empty() && concern("kafka." + problem.missing);
  });
  return problems;
}

}  // namespace laneway::config
