// Verbs that give and take rights, on a cluster with an authorizer (scripts/kafka start --secured).
#pragma once

#include <string>
#include <vector>

namespace kafka_tool {

/// `type`: topic or group; `rights`: such as read, describe.
struct Access {
  std::string user;
  std::string type;
  std::string name;
  std::vector<std::string> rights;
};

/// Both return when the broker that is asked acts by the change.
void grant(const std::string& bootstrap, const Access& access);
/// What the user was not allowed before is no failure.
void revoke(const std::string& bootstrap, const Access& access);

}  // namespace kafka_tool
