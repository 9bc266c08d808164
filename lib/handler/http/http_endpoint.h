// The address that an http handler sends to, and the settings of its requests. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "base/time.h"
#include "curl/connection_problem.h"

namespace laneway::handler {

struct HttpEndpoint {
  std::string url;
  std::string server;  ///< host:port, for reasons; without the user and password of the URL
  std::string content_type;
  Duration timeout{};
  std::string authorization;          ///< the header's value; empty if not configured
  std::string ca;                     ///< PEM; empty to use the system's certificates
  std::size_t kept_of_answer = 1024;  ///< the number of bytes of an answer's body that are kept in HttpAnswer
  /// The body of an answer is evaluated: the request asks for an uncompressed body, and a compressed one is
  /// decoded. Otherwise a body that cannot be decoded makes no difference.
  bool reads_answer = false;
  bool public_only = false;  ///< only addresses of the internet (public_address.h)
  bool passes_on = false;    ///< an answer has results for another pool (http_results.h)
};

inline constexpr curl::ConnectionKeys http_connection_keys{"handler.http.url", "to handler.http.ca_file"};

}  // namespace laneway::handler
