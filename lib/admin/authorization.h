// Who may change something. With a token: whoever knows it. Without one: whoever reaches a loopback address,
// that is, every user of this machine, and says with a header that no web page made him do it (a form of
// another site cannot set one: cross-site request forgery). Elsewhere nobody. Pure.
#pragma once

#include <optional>
#include <string>

namespace laneway::admin {

struct Access {
  std::string token;      ///< empty: there is none
  bool loopback = false;  ///< the server listens on a loopback address
};

/// What a request's headers say; empty where there is none.
struct Credentials {
  std::string authorization;
  std::string content_type;
  std::string own_header;  ///< X-Laneway
};

struct Refusal {
  int status = 403;
  std::string text;
};

/// Nothing: it may.
std::optional<Refusal> refuse_change(const Access& access, const Credentials& credentials);

/// In a time that depends on the length of `given` alone.
bool same_secret(const std::string& secret, const std::string& given);

}  // namespace laneway::admin
