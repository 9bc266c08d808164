// The differences between the configuration in force and another one, and whether a running service can take
// them over.
//
// Each property of the schema says whether a running service can change it (property.h). All keys
// of the client library need a restart. Pure. Any thread.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace laneway::config {

struct SettingChange {
  std::string key;
  std::string before;   ///< as YAML in one line, without secrets; empty if it was not set
  std::string after;    ///< the same
  std::string restart;  ///< why the change needs a restart; empty if a reload changes the key

  /// "lanes.workers: 8 → 16"
  std::string text() const;
};

/// In the order of the schema, the client library's keys first.
std::vector<SettingChange> changes(const Config& before, const Config& after);

/// One line for each change that needs a restart, with its reason; empty if no change needs one.
std::string needs_restart(const std::vector<SettingChange>& changes);

}  // namespace laneway::config
