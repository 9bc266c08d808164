// What a rule sees, and how it says that something is wrong: the settings, the Config that they gave, and the
// problems found so far. A rule about a key that has a problem already is left out. Refers to what its maker
// owns. Pure.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "config/rules/connection_rules.h"
#include "config/yaml/problem.h"
#include "config/yaml/settings.h"

namespace laneway::config {

/// What is expected of a configuration beside its keys.
struct Expected {
  SettingPlace file;         ///< the place of what is missing
  bool own_handler = false;  ///< the program does the work itself
};

class RuleContext {
 public:
  RuleContext(const Config& config, const Settings& settings, const Expected& expected, Problems& problems)
      : config_(config), settings_(settings), expected_(expected), problems_(problems) {}

  const Config& config() const { return config_; }
  bool given(const std::string& key) const { return settings_.contains(key); }
  bool concern(const std::string& key) const { return problems_.concern(key); }
  /// The value of a key of the client library in lower case.
  std::string client(const std::string& key) const;

  /// Says it at the first of the keys that was given, unless one of them is wrong by itself.
  void refuse(const std::vector<std::string>& keys, const std::string& what, const std::string& hint);
  void refuse_if_given(const std::string& key, const std::string& what, const std::string& hint);

  void require(const std::string& key, const std::string& hint);
  /// A handler, or none where the program does the work itself.
  void require_handler(const std::string& hint);
  /// A key of the handler that was chosen, such as handler.http.url. Says it where the handler was chosen.
  void require_of_handler(const std::string& key, const std::string& hint);

  /// Leaves out those about a key that is missing because it is wrong.
  std::vector<ConnectionProblem> new_connection_problems(const ClientSettings& all,
                                                         const ClientSettings& own) const;

 private:
  const Config& config_;
  const Settings& settings_;
  const Expected& expected_;
  Problems& problems_;
};

}  // namespace laneway::config
