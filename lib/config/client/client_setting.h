// The value of one key of the client library. Plain data.
#pragma once

#include <string>

namespace laneway::config {

/// The place where a setting was written, for messages: "config/http.yaml:3:5", "--set lanes.workers",
/// "LANEWAY_LANES__WORKERS".
using Origin = std::string;

/// A client key with its value and where it was written. `secret` values are never printed.
struct ClientSetting {
  std::string value;
  Origin origin;
  bool secret = false;

  bool operator==(const ClientSetting& other) const { return value == other.value; }
};

}  // namespace laneway::config
