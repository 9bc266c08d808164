#include "config/checks/rule_context.h"

#include <algorithm>

#include "config/text.h"

namespace laneway::config {
std::string RuleContext::placed(const std::string& key) const {
  return key == "handler" || key.starts_with("handler.") ? scope_ + key : key;
}

bool RuleContext::is_about_handler(const std::string& path) const {
  return path == placed("handler") || path.starts_with(placed("handler."));
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

void RuleContext::refuse_if_given(const std::string& key, const std::string& what, const std::string& hint) {
  if (given(key)) refuse({key}, what, hint);
}

void RuleContext::require(const std::string& key, const std::string& hint) {
  if (expected_.complete && !given(key) && !concern(key))
    problems_.add(expected_.file, key, "this key is missing", hint);
}

void RuleContext::require_handler(const std::string& hint) {
  const auto handler = std::find_if(settings_.begin(), settings_.end(),
                                    [&](const auto& item) { return is_about_handler(item.first); });
  if (handler == settings_.end()) {
    if (!expected_.own_handler) require("handler", hint);
  } else if (expected_.own_handler) {
    problems_.add(handler->second.place, handler->first,
                  "this program does the work itself and takes no handler", "remove this key");
  }
}

bool RuleContext::given_handler() const {
  return std::any_of(settings_.begin(), settings_.end(),
                     [&](const auto& item) { return is_about_handler(item.first); });
}

void RuleContext::refuse_handler(const std::string& what, const std::string& hint) {
  const auto first = std::find_if(settings_.begin(), settings_.end(),
                                  [&](const auto& item) { return is_about_handler(item.first); });
  if (first != settings_.end() && !concern("handler"))
    problems_.add(first->second.place, first->first, what, hint);
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
