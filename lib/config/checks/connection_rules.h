// Contradictions in the settings of a connection to brokers: TLS, logins, unencrypted data. The same rules
// hold for the consumer and for a producer with settings of its own. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/client/client_keys.h"

namespace laneway::config {

struct ConnectionSettings {
  const ClientSettings& all;
  const ClientSettings& own;  ///< the keys that messages may name; the other keys are taken over
  bool may_be_insecure = false;
};

struct ConnectionProblem {
  std::vector<std::string> keys;  ///< of the client; the message names the first one that was given
  std::string what;
  std::string hint;
  std::string missing{};  ///< the missing key; empty if no key is missing
};

std::vector<ConnectionProblem> connection_problems(const ConnectionSettings& connection);

/// Whether a broker's address or a URL names this machine.
bool is_loopback(const std::string& server);

/// A warning if records leave the machine unencrypted; nullopt if they do not. The warning names `key`.
std::optional<std::string> unencrypted(const ClientSettings& client, const std::string& key);

}  // namespace laneway::config
