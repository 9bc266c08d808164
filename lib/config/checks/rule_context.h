// The view of a rule: the settings, the Config made of them, and the list of problems to add to. Rules about
// keys that already have a problem are skipped. Holds references to objects of its creator. Pure.
#pragma once

#include <string>
#include <vector>

#include "config/checks/connection_rules.h"
#include "config/config.h"
#include "config/yaml/problem.h"

namespace laneway::config {

/// Expectations of a configuration beyond its keys.
struct Expected {
  SettingPlace file;         ///< the place for messages about missing keys
  bool own_handler = false;  ///< the program does the work itself, so no handler is expected
  bool complete = true;      ///< otherwise no key is missing
};

class RuleContext {
 public:
  /// Keys of a handler are those of the handler of `pool`; the unnamed pool has the service's.
  RuleContext(const Config& config, const PoolSettings& pool, const Settings& settings,
              const Expected& expected, Problems& problems)
      : config_(config),
        settings_(settings),
        expected_(expected),
        problems_(problems),
        scope_(pool.scope()) {}

  const Config& config() const { return config_; }
  /// The program does the work of every record that no pool has a handler for.
  bool own_handler() const { return expected_.own_handler; }
  bool given(const std::string& key) const { return settings_.contains(placed(key)); }
  bool concern(const std::string& key) const { return problems_.concern(placed(key)); }
  /// The value of a key of the client library, in lower case.
  std::string client(const std::string& key) const;

  /// Adds a problem at the first of the keys that was given, if one was, unless one of the keys already has a
  /// problem.
  void refuse(const std::vector<std::string>& keys, const std::string& what, const std::string& hint);

  void require(const std::string& key, const std::string& hint);
  /// Requires a handler; if the program does the work itself, refuses one.
  void require_handler(const std::string& hint);
  /// Whether a handler was chosen, or a key of one set.
  bool given_handler() const { return handler_setting() != nullptr; }
  /// Adds a problem where the handler is chosen, unless it has one.
  void refuse_handler(const std::string& what, const std::string& hint);
  /// Requires a key of the chosen handler, such as handler.http.url. The problem is added where the handler
  /// is chosen.
  void require_of_handler(const std::string& key, const std::string& hint);

  /// Without the problems about keys that are missing only because their values are wrong.
  std::vector<ConnectionProblem> new_connection_problems(const ClientSettings& all,
                                                         const ClientSettings& own) const;

 private:
  /// The key of a handler where it is written.
  std::string placed(const std::string& key) const;
  /// The first setting of the handler; nullptr if there is none.
  const Setting* handler_setting() const;

  const Config& config_;
  const Settings& settings_;
  const Expected& expected_;
  Problems& problems_;
  const std::string scope_;
};

}  // namespace laneway::config
