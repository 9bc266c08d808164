#include "admin/http/host_check.h"

#include "catch.h"

using namespace laneway::admin;

TEST_CASE("a host is separated from its port and brackets") {
  CHECK(host_of("shop:80") == "shop");
  CHECK(host_of("shop") == "shop");
  CHECK(host_of("127.0.0.1:9644") == "127.0.0.1");
  CHECK(host_of("[::1]:9644") == "::1");
  CHECK(host_of("[::1]") == "::1");
  CHECK(host_of("::1") == "::1");
}

TEST_CASE("addresses, localhost and the process's own names are served") {
  for (const auto* host : {"localhost", "LocalHost:9644", "127.0.0.1", "127.0.0.1:1", "10.1.2.3:9644",
                           "[::1]:9644", "[fe80::1]", "lane-1:9644", "LANE-1"})
    CHECK(host_allowed(host, {"lane-1"}));
}

TEST_CASE("names of other hosts are not served") {
  for (const auto* host : {"evil.example", "evil.example:9644", "", ":9644", "localhost.evil.example",
                           "127.0.0.1.evil.example", "lane-1.evil.example", "[::1", "[]:1"})
    CHECK_FALSE(host_allowed(host, {"lane-1"}));
}
