// What differs between the configuration in force and another one, and whether that can be changed in flight.
//
// Every key of the schema is in one of two tables: changed in flight, or with the reason why it takes a new
// start. The keys of the client library all take one. Pure. Any thread.
#pragma once

#include <string>
#include <string_view>
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

/// Why a change of this setting of laneway needs a restart; empty: it can be changed in flight; nullptr: it
/// is in no table, which a test forbids.
const char* restart_reason(std::string_view key);

}  // namespace laneway::config
