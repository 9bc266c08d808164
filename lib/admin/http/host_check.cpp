#include "admin/http/host_check.h"

#include <arpa/inet.h>
#include <strings.h>

#include <algorithm>
#include <array>

namespace laneway::admin {
namespace {

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address;
  return inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

}  // namespace

std::string_view host_of(std::string_view host_and_port) {
  if (host_and_port.starts_with('[')) {
    const auto end = host_and_port.find(']');
    return end == std::string_view::npos ? host_and_port : host_and_port.substr(1, end - 1);
  }
  const auto colon = host_and_port.find(':');
  const bool one_colon = colon != std::string_view::npos && colon == host_and_port.rfind(':');
  return one_colon ? host_and_port.substr(0, colon) : host_and_port;
}

bool host_allowed(std::string_view host_header, const std::vector<std::string>& names) {
  const auto host = host_of(host_header);
  if (same(host, "localhost") || is_address(std::string(host))) return true;
  return !host.empty() &&
         std::any_of(names.begin(), names.end(), [&](const auto& name) { return same(name, host); });
}

}  // namespace laneway::admin
