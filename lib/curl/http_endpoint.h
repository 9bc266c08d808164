// Where an http handler sends to.
//
// Pure.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace laneway::curl {

struct HttpEndpoint {
  std::string url;
  std::string server;  ///< host:port, for reasons; without the user and password that a URL may hold
  std::string content_type;
  Duration timeout{};
  bool is_tls() const;
  std::string authorization;          ///< the header's value; empty: none
  std::string ca;                     ///< PEM; empty: the system's certificates
  std::size_t kept_of_answer = 1024;  ///< bytes of an answer's body that HttpAnswer has
  /// The body of an answer means something: it is asked for uncompressed, and decoded where it is not. Else a
  /// body that cannot be decoded changes nothing.
  bool reads_answer = false;
};

/// The authorities that servers are checked by on a CURL* from now on; `ca` as above, stays where it is, and
/// replaces the system's.
void trust(void* easy, const std::string& ca);

/// What a user sets for a connection.
struct ConnectionKeys {
  const char* url = "handler.http.url";
  const char* authorities = "into handler.http.ca_file";  ///< where the certificate of an authority is put
};

/// Why a CURL* has no connection, after its CURLcode `code`: `text`, the library's words, and where a
/// certificate is refused, what is wrong with it and what to do.
std::string connection_problem(void* easy, int code, const std::string& text, ConnectionKeys keys = {});

/// "host:port" of an http or https URL. Error: configuration.
Result<std::string> server_of(const std::string& url);

}  // namespace laneway::curl
