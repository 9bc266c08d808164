// Asks an admin server of this program's own kind: for `laneway status` and its like.
//
// Threads: any. Blocks for at most 2 s while connecting and 3 s for an answer; post() up to 15 s more.
#pragma once

#include <string>

#include "base/result.h"

namespace laneway::admin {

struct Endpoint {
  std::string address;  ///< host:port
  std::string token;    ///< empty: none
};

struct Answer {
  int status = 0;
  std::string body;
};

/// Errors: usage for what is no address; unavailable where nothing answers.
Result<Answer> get(const Endpoint& endpoint, const std::string& path);
/// `json`: the body; may be empty. A service that does not answer GET /livez is not asked, and so does not do
/// it later.
Result<Answer> post(const Endpoint& endpoint, const std::string& path, const std::string& json);

}  // namespace laneway::admin
