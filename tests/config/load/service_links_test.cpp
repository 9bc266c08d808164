#include "config/load/service_links.h"

#include "catch.h"
#include "config/loaded.h"

using namespace laneway::config;

namespace {
/// As Kubernetes injects them for a Service of one named port.
EnvironmentVariables links_of(const std::string& service) {
  return {{service + "_SERVICE_HOST", "10.0.0.7"},
          {service + "_SERVICE_PORT", "9644"},
          {service + "_SERVICE_PORT_ADMIN", "9644"},
          {service + "_PORT", "tcp://10.0.0.7:9644"},
          {service + "_PORT_9644_TCP", "tcp://10.0.0.7:9644"},
          {service + "_PORT_9644_TCP_PROTO", "tcp"},
          {service + "_PORT_9644_TCP_PORT", "9644"},
          {service + "_PORT_9644_TCP_ADDR", "10.0.0.7"}};
}
}  // namespace

TEST_CASE("the variables of a Kubernetes Service are ignored with one warning") {
  for (const std::string service : {"LANEWAY", "LANEWAY_ORDERS", "LANEWAY_ADMIN_PORT"}) {
    const auto result = loaded(base, links_of(service));
    CAPTURE(service);
    CHECK(report(result.errors) == "");
    CHECK(result.warnings.size() == 1);
  }
  auto both = links_of("LANEWAY");
  both.merge(links_of("LANEWAY_X"));
  const auto result = loaded(base, both);
  REQUIRE(result.warnings.size() == 1);
  CHECK(result.warnings[0] ==
        "LANEWAY_PORT, LANEWAY_PORT_9644_TCP, LANEWAY_PORT_9644_TCP_ADDR, LANEWAY_PORT_9644_TCP_PORT and 12 "
        "more are ignored: Kubernetes sets these variables for the Service laneway, laneway-x (set "
        "enableServiceLinks: false in the pod's spec to end this)");
  CHECK(loaded(base).warnings.empty());
}

TEST_CASE("a misspelt variable that resembles one of a Service stays an error") {
  for (const auto& [name, value] : EnvironmentVariables{{"LANEWAY_PORT", "9644"},
                                                        {"LANEWAY_ADMIN_PORT", "9644"},
                                                        {"LANEWAY_LANES__WORKRES", "3"},
                                                        {"LANEWAY_SERVICE_PORT", "many"},
                                                        {"LANEWAY_ADMIN__SERVICE_PORT", "3"},
                                                        {"LANEWAY_PORT_X_TCP", "3"},
                                                        {"LANEWAY_PORT_3_ICMP", "3"},
                                                        {"LANEWAY_SERVICE_PORTS", "3"}}) {
    CAPTURE(name);
    CHECK(errors_of(base, {{name, value}}).starts_with(name + ": this key does not exist"));
  }
}
