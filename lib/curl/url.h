// What a URL says of its server. Pure.
#pragma once

#include <string>

#include "base/result.h"

namespace laneway::curl {

bool is_tls(const std::string& url);

/// "host:port" of an http or https URL, without the user and password that it may hold. Error: configuration,
/// of the configuration's `key`.
Result<std::string> server_of(const std::string& url, const std::string& key);

}  // namespace laneway::curl
