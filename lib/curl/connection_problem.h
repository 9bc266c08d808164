// Why there is no connection, with what to do where the certificate of a server is refused. Pure.
#pragma once

#include <string>

namespace laneway::curl {

/// What a user sets for a connection.
struct ConnectionKeys {
  const char* url;
  const char* authorities;  ///< where the certificate of an authority is put: "into handler.http.ca_file"
};

/// Why a CURL* has no connection, after its CURLcode `code`: `text`, the library's words, and where a
/// certificate is refused, what is wrong with the certificate and what to do.
std::string connection_problem(void* easy, int code, const std::string& text, ConnectionKeys keys);

}  // namespace laneway::curl
