#include "handler/http/public_address.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace laneway::handler {
namespace {

struct Network {
  std::uint32_t address;
  int bits;
};

constexpr std::uint32_t ipv4(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return a << 24 | b << 16 | c << 8 | d;
}

constexpr std::array special_networks{
    Network{ipv4(0, 0, 0, 0), 8},      Network{ipv4(10, 0, 0, 0), 8},     Network{ipv4(100, 64, 0, 0), 10},
    Network{ipv4(127, 0, 0, 0), 8},    Network{ipv4(169, 254, 0, 0), 16}, Network{ipv4(172, 16, 0, 0), 12},
    Network{ipv4(192, 0, 0, 0), 24},   Network{ipv4(192, 0, 2, 0), 24},   Network{ipv4(192, 88, 99, 0), 24},
    Network{ipv4(192, 168, 0, 0), 16}, Network{ipv4(198, 18, 0, 0), 15},  Network{ipv4(198, 51, 100, 0), 24},
    Network{ipv4(203, 0, 113, 0), 24}, Network{ipv4(224, 0, 0, 0), 3}};

bool is_public(std::uint32_t address) {
  return std::none_of(special_networks.begin(), special_networks.end(), [&](const Network& network) {
    return (address ^ network.address) >> (32 - network.bits) == 0;
  });
}

std::uint32_t ipv4_at(const in6_addr& address, int place) {
  const auto* bytes = &address.s6_addr[place];
  return ipv4(bytes[0], bytes[1], bytes[2], bytes[3]);
}

bool begins_with(const in6_addr& address, std::initializer_list<std::uint8_t> bytes) {
  return std::equal(bytes.begin(), bytes.end(), std::begin(address.s6_addr));
}

bool is_public(const in6_addr& address) {
  if (IN6_IS_ADDR_V4MAPPED(&address)) return is_public(ipv4_at(address, 12));
  if (begins_with(address, {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0}))
    return is_public(ipv4_at(address, 12));
  if (begins_with(address, {0x20, 0x02})) return is_public(ipv4_at(address, 2));
  if (begins_with(address, {0x20, 0x01, 0x0d, 0xb8})) return false;                // documentation
  if (begins_with(address, {0x20, 0x01}) && address.s6_addr[2] < 2) return false;  // protocols: 2001::/23
  return (address.s6_addr[0] & 0xE0) == 0x20;                                      // 2000::/3
}

}  // namespace

bool is_public(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &address, sizeof in);
    return is_public(ntohl(in.sin_addr.s_addr));
  }
  if (address.sa_family != AF_INET6) return false;
  sockaddr_in6 in{};
  std::memcpy(&in, &address, sizeof in);
  return is_public(in.sin6_addr);
}

}  // namespace laneway::handler
