// Why a connection failed, and what to do about a certificate that is refused. Pure.
#pragma once

#include <string>

namespace laneway::curl {

/// The configuration keys to name in messages about a connection.
struct ConnectionKeys {
  const char* url;
  const char* authorities;  ///< where the certificate of an authority is added: "to handler.http.ca_file"
};

/// Why a CURL* has no connection, given its CURLcode `code`. `text` is the library's text; if a certificate
/// is refused, the result says what is wrong with the certificate and what to do.
std::string connection_problem(void* easy, int code, const std::string& text, ConnectionKeys keys);

}  // namespace laneway::curl
