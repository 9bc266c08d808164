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
  std::string authorization;          ///< the header's value; empty: none
  std::string ca;                     ///< PEM; empty: the system's certificates
  std::size_t kept_of_answer = 1024;  ///< bytes of an answer's body that HttpAnswer has
};

/// The certificates that server names are checked by on a CURL* from now on; `ca` as above, stays where it
/// is.
void trust(void* easy, const std::string& ca);

/// "host:port" of an http or https URL. Error: configuration.
Result<std::string> server_of(const std::string& url);

}  // namespace laneway::handler
