#include "handler/http/public_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <string>

#include "catch.h"

using laneway::handler::is_public;

namespace {

bool is_public_address(const std::string& text) {
  INFO(text);
  if (text.find(':') == std::string::npos) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    REQUIRE(inet_pton(AF_INET, text.c_str(), &in.sin_addr) == 1);
    return is_public(reinterpret_cast<const sockaddr&>(in));
  }
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  REQUIRE(inet_pton(AF_INET6, text.c_str(), &in.sin6_addr) == 1);
  return is_public(reinterpret_cast<const sockaddr&>(in));
}

}  // namespace

TEST_CASE("addresses of private networks, this machine and special purposes are not public") {
  for (const char* address : {"0.0.0.0",
                              "10.1.2.3",
                              "100.64.0.1",
                              "127.0.0.1",
                              "127.255.255.255",
                              "169.254.169.254",
                              "172.16.0.1",
                              "172.31.255.255",
                              "192.0.0.8",
                              "192.168.1.1",
                              "198.19.255.255",
                              "224.0.0.1",
                              "240.0.0.1",
                              "255.255.255.255",
                              "::",
                              "::1",
                              "fe80::1",
                              "fc00::1",
                              "fd12:3456::1",
                              "ff02::1",
                              "2001:db8::1",
                              "2001::1",
                              "::ffff:127.0.0.1",
                              "::ffff:10.0.0.1",
                              "64:ff9b::a00:1",
                              "2002:7f00:1::",
                              "64:ff9b:1::1"})
    CHECK_FALSE(is_public_address(address));
  const sockaddr other{AF_UNIX, {}};
  CHECK_FALSE(is_public(other));
}

TEST_CASE("addresses of the internet are public") {
  for (const char* address :
       {"1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.0.1", "172.32.0.0",
        "192.167.255.255", "198.17.0.1", "198.20.0.1", "223.255.255.255", "2606:4700::1111", "2a00::1",
        "::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::"})
    CHECK(is_public_address(address));
}
