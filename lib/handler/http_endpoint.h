// Where an http handler sends to.
//
// Pure.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace laneway::handler {

struct HttpEndpoint {
  std::string url;
  std::string server;  ///< host:port, for reasons; without the user and password that a URL may hold
  std::string content_type;
  Duration timeout{};
  bool is_tls() const;
  std::size_t kept_of_answer = 1024;  ///< bytes of an answer's body that HttpAnswer has
};

/// "host:port" of an http or https URL. Error: configuration.
Result<std::string> server_of(const std::string& url);

}  // namespace laneway::handler
