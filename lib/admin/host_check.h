// Which Host headers are answered. A web page that makes its own name resolve to our address (DNS rebinding)
// can make a browser send us requests, but not with a Host other than that name. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace laneway::admin {

/// "name:port", "1.2.3.4:port" and "[::1]:port" without the port and the brackets; likewise without a port.
std::string_view host_of(std::string_view host_and_port);

/// localhost, any IP address, and `names` (compared without case) pass.
bool host_allowed(std::string_view host_header, const std::vector<std::string>& names);

}  // namespace laneway::admin
