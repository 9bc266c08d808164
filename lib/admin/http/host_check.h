// Decides which Host headers are accepted. A web page whose name resolves to this server's address (DNS
// rebinding) can make a browser send requests here, but only with that name as Host. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace laneway::admin {

/// The host of "name:port", "1.2.3.4:port" or "[::1]:port", without port and brackets; also accepts text
/// without a port.
std::string_view host_of(std::string_view host_and_port);

/// Accepts localhost, any IP address, and `names` (compared without case).
bool host_allowed(std::string_view host_header, const std::vector<std::string>& names);

}  // namespace laneway::admin
