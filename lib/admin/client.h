// A client for laneway's own admin server: for `laneway status` and similar commands.
//
// Threads: any. Blocks while a host name is looked up, then for at most 2 s to connect and 3 s for an answer;
// post() up to 15 s more.
#pragma once

#include <string>

#include "base/result.h"

namespace laneway::admin {

struct Endpoint {
  std::string address;  ///< host:port
  std::string token;    ///< empty if there is none
};

/// Returns "host:port" for "http://host:port/path" and for "host:port". Pure.
std::string address_in(std::string url);

struct Answer {
  int status = 0;
  std::string body;
  bool from_laneway = true;  ///< false: another program has answered
};

/// Errors: usage if the address is invalid; unavailable if nothing answers.
Result<Answer> get(const Endpoint& endpoint, const std::string& path);
/// `json`: the body; may be empty. A service that does not answer GET /livez gets no request, so that it does
/// not carry out the request later; nor does a program that is not laneway, which is also unavailable.
Result<Answer> post(const Endpoint& endpoint, const std::string& path, const std::string& json);

}  // namespace laneway::admin
