// Where an http handler sends to, and how. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "base/time.h"
#include "curl/connection_problem.h"

namespace laneway::handler {

struct HttpEndpoint {
  std::string url;
  std::string server;  ///< host:port, for reasons; without the user and password that a URL may hold
  std::string content_type;
  Duration timeout{};
  std::string authorization;          ///< the header's value; empty: none
  std::string ca;                     ///< PEM; empty: the system's certificates
  std::size_t kept_of_answer = 1024;  ///< bytes of an answer's body that HttpAnswer has
  /// The body of an answer means something: it is asked for uncompressed, and decoded where it is not. Else a
  /// body that cannot be decoded changes nothing.
  bool reads_answer = false;
};

inline constexpr curl::ConnectionKeys http_connection_keys{"handler.http.url", "into handler.http.ca_file"};

}  // namespace laneway::handler
