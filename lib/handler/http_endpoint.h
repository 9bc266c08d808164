// Where an http handler sends to.
//
// Pure.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"

namespace laneway::handler {

struct HttpEndpoint {
  std::string url;
  std::string server;  ///< host:port, for reasons; without the user and password that a URL may hold
  std::string content_type;
  Duration timeout{};
};

/// "host:port" of an http or https URL. Error: configuration.
Result<std::string> server_of(const std::string& url);

}  // namespace laneway::handler
