// Extracts the server from a URL. Pure.
#pragma once

#include <string>

#include "base/result.h"

namespace laneway::curl {

bool is_tls(const std::string& url);

/// "host:port" of an http or https URL, without its user and password. Error: configuration, naming the
/// configuration's `key`.
Result<std::string> server_of(const std::string& url, const std::string& key);

}  // namespace laneway::curl
