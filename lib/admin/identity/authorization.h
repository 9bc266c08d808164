// Decides which requests may change something. With a token: requests that carry the token, or a proof that
// their client knows it (proof.h), which Routes checks. Without a token:
// requests to a loopback address, that is, of every user of this machine, with a header that proves that no
// web page caused the request (a form of another site cannot set a header: cross-site request forgery). On
// other addresses, no request. Pure.
#pragma once

#include <optional>
#include <string>

namespace laneway::admin {

struct Access {
  std::string token;      ///< empty if there is none
  bool loopback = false;  ///< the server listens on a loopback address
};

/// The relevant headers of a request; empty if missing.
struct Credentials {
  std::string authorization;
  std::string content_type;
  std::string own_header;  ///< X-Laneway
};

struct Refusal {
  int status = 403;
  std::string text;
};

/// nullopt if the change is allowed.
std::optional<Refusal> refuse_change(const Access& access, const Credentials& credentials);

/// Takes a time that depends only on the length of `given`.
bool same_secret(const std::string& secret, const std::string& given);

}  // namespace laneway::admin
