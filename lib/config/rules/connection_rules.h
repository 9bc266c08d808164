// What contradicts in the settings by which brokers are reached: TLS, logins, what is sent unencrypted. The
// same for the consumer and for a producer with settings of its own. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/client/client_keys.h"

namespace laneway::config {

struct Connection {
  const ClientSettings& all;
  const ClientSettings& own;  ///< those that it is to be blamed for; the others are taken over
  bool may_be_insecure = false;
};

struct ConnectionProblem {
  std::vector<std::string> keys;  ///< the client's; the first that was given is to blame
  std::string what;
  std::string hint;
  std::string missing;  ///< the key that is not there, where that is the problem
};

std::vector<ConnectionProblem> connection_problems(const Connection& connection);

/// Of a broker or a URL: whether it names this machine.
bool is_loopback(const std::string& server);

/// A warning where records leave the machine unencrypted; `key` would change it.
std::optional<std::string> unencrypted(const ClientSettings& client, const std::string& key);

}  // namespace laneway::config
