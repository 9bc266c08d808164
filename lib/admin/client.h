// A client for laneway's own admin server: for `laneway status` and similar commands.
//
// Threads: any. Blocks for at most 2 s to connect and 3 s for an answer; post() up to 15 s more.
#pragma once

#include <string>

#include "base/result.h"

namespace laneway::admin {

struct Endpoint {
  std::string address;  ///< host:port
  std::string token;    ///< empty if there is none
};

struct Answer {
  int status = 0;
  std::string body;
};

/// Errors: usage if the address is invalid; unavailable if nothing answers.
Result<Answer> get(const Endpoint& endpoint, const std::string& path);
/// `json`: the body; may be empty. A service that does not answer GET /livez gets no request, so that it does
/// not carry out the request later.
Result<Answer> post(const Endpoint& endpoint, const std::string& path, const std::string& json);

}  // namespace laneway::admin
