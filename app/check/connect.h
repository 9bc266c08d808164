// What the brokers and the handler's server answer to `laneway check --connect`. Both are asked at the same
// time.
#pragma once

#include <optional>
#include <string>

#include "app/check/forecast.h"
#include "base/result.h"
#include "base/time.h"
#include "config/config.h"

namespace laneway::app {

/// How long the brokers and the handler's server have to answer; less if start_deadline is shorter.
inline constexpr Duration longest_connect = seconds(8);

/// The answers of the brokers, or of the handlers' servers.
struct Answers {
  std::string details;         ///< a line for each fact, indented
  std::optional<Error> error;  ///< unavailable or configuration; nullopt if everything answered
};

struct Connections {
  Answers brokers;
  Answers handler;
  /// nullopt if the brokers did not answer. The numbers stay assumed if a pattern matches no topic yet.
  std::optional<Cluster> cluster;
  Duration took{};
};

/// Asks the brokers for the subscribed topics, whether the user may read them, and the commits of the group
/// (whether the user may join the group shows only at a join); connects to the server of each handler, or
/// loads and starts its plugin. Blocks for up to longest_connect, and as long as a name server or a plugin
/// takes.
Connections ask_all(const config::Config& config);

/// One line about all connections. Pure.
std::string verdict(const Connections& connections);

}  // namespace laneway::app
