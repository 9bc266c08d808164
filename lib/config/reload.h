// What differs between the configuration in force and another one, and whether that can be changed in flight.
//
// Each property of the schema says whether a running service can change it (schema/property.h). The keys of
// the client library all take a restart. Pure. Any thread.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace laneway::config {

struct Change {
  std::string key;
  std::string before;   ///< as YAML in one line, without secrets; empty: it was not set
  std::string after;    ///< the same
  std::string restart;  ///< why it needs one; empty: it can be changed in flight

  /// "lanes.workers: 8 → 16"
  std::string text() const;
};

/// In the order of the schema, the client library's keys first.
std::vector<Change> changes(const Config& before, const Config& after);

/// Those that need a restart, each with its reason; empty: none does.
std::string needs_restart(const std::vector<Change>& changes);

}  // namespace laneway::config
