// What a person asks for with `laneway status | pause | resume | skip | reload`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace laneway::control {

inline constexpr const char* default_address = "127.0.0.1:9644";

struct Options {
  std::string admin;       ///< host:port; empty: the configuration's, else default_address
  std::string token_file;  ///< empty: the configuration's, if any
  bool watch = false;
  bool json = false;
  std::string target;  ///< TOPIC[:PARTITION], TOPIC:PARTITION:OFFSET
  std::string reason;
  bool dry_run = false;
};

struct Target {
  std::string topic;
  std::optional<std::int32_t> partition;
  std::optional<std::int64_t> offset;
};

/// TOPIC, TOPIC:PARTITION or TOPIC:PARTITION:OFFSET. Pure. Error: usage.
Result<Target> parse_target(const std::string& text);

/// The path that says so. Pure.
std::string control_path(const Target& target, const std::string& verb);

}  // namespace laneway::control
