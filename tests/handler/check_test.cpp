#include <arpa/inet.h>
#include <sys/socket.h>

#include "base/descriptor.h"
#include "catch.h"
#include "handler/registry.h"
#include "kafka/client/client_support.h"

using namespace laneway;
using namespace laneway::handler;

TEST_CASE("a check of the settings contacts no broker, and so fences no running service") {
  config::Config config;
  config.topics = {"orders"};
  const Descriptor listening(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  REQUIRE(::bind(listening.number(), generic, size) == 0);
  REQUIRE(::listen(listening.number(), 10) == 0);
  REQUIRE(::getsockname(listening.number(), generic, &size) == 0);
  config.kafka["bootstrap.servers"].value = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  config.kafka["group.id"] = {"g", "", false};
  config.kafka["group.instance.id"] = {"1", "", false};
  config::ProduceSettings produce;
  produce.topic = "out";
  produce.transactional = true;
  config.handler = produce;
  CHECK(check_handler(config));
  CHECK(kafka::check_settings(config.kafka));
  const Descriptor accepted(::accept4(listening.number(), nullptr, nullptr, SOCK_CLOEXEC));
  CHECK(accepted.number() < 0);  // a client would have been waiting
}
