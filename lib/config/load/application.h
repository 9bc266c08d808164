// Puts settings into a Config, one after the other: of the service, or of one named pool. Keeps references to
// its creator's objects. Pure, except for the properties that read a file when they are set.
#pragma once

#include <string>

#include "config/config.h"
#include "config/property.h"
#include "config/yaml/problem.h"

namespace laneway::config {

class Application {
 public:
  /// `scope`: the beginning of the names of the settings that are put in, "pools.critical."; empty for the
  /// settings of the service, without those of the pools. With a scope, `config` has this pool only, and the
  /// handler of the pool becomes the handler of `config`.
  Application(Config& config, Problems& problems, std::string scope = "")
      : config_(config), problems_(problems), scope_(std::move(scope)) {}

  void apply(const Settings& settings);
  /// Whether the settings name a handler that exists.
  bool has_handler() const { return !chosen_.empty(); }

 private:
  std::string local(const Setting& setting) const { return setting.path.substr(scope_.size()); }
  bool applies(const std::string& key) const;
  void complain(const Setting& setting, const BadValue& bad, const std::string& expects);
  void choose_handler(const std::vector<const Setting*>& settings);
  void choose_of(const Setting& setting);
  void choose(const Setting& setting, const std::string& name);
  void apply_client_key(const std::string& name, const Setting& setting);

  Config& config_;
  Problems& problems_;
  const std::string scope_;
  std::string chosen_;
  bool refused_second_ = false;
};

}  // namespace laneway::config
