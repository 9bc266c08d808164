#include "handler/registry.h"

#include "catch.h"
#include "config/handlers/handlers.h"
#include "handler/run.h"
#include "handler/subscribers/subscribers.h"

using namespace laneway;
using namespace laneway::handler;

TEST_CASE("the registry and the handler agree about the workers") {
  config::HttpSettings http;
  http.url = "http://127.0.0.1:1/";
  config::ProduceSettings produce;
  produce.topic = "out";
  const SubscriberFolder folder;
  const std::vector<config::HandlerSettings> all{config::LogSettings{},
                                                 config::SimulateSettings{},
                                                 http,
                                                 config::ExecSettings{.command = {"/bin/cat"}},
                                                 produce,
                                                 config::FanOutSettings{folder.write("none.yaml", "[]")}};
  REQUIRE(all.size() + 1 == std::variant_size_v<config::HandlerSettings>);  // a plugin needs a library
  for (const auto& settings : all) {
    auto config = config_with(settings);
    config.topics = {"orders"};
    config.pools.resize(1);
    config.pools.front().then = "next";
    config.kafka = {{"bootstrap.servers", {"127.0.0.1:1", "", false}}, {"group.id", {"g", "", false}}};
    const auto handler = make_handler(config);
    REQUIRE(handler.ok());
    INFO((*handler)->name());
    const auto resources = resources_of(settings);
    CHECK(resources.workers != (*handler)->asynchronous());
    const auto& row = config::handler_of(settings).traits;
    CHECK((row.occupies == config::Occupies::nothing) == (*handler)->asynchronous());
    CHECK(resources.produces == ((*handler)->renewals() != nullptr));
    CHECK(resources.produces == (row.output != nullptr));
  }
}

TEST_CASE("descriptors grow with the running records, up to the number of simultaneous requests") {
  config::HttpSettings http;
  http.connections = 10;
  const auto resources = resources_of(http);
  CHECK(resources.descriptors(10) - resources.descriptors(0) == 10);
  CHECK(resources.descriptors(11) == resources.descriptors(10));
  CHECK(resources_of(config::LogSettings{}).descriptors(100) == 0);
}

TEST_CASE("a library is listed once") {
  const auto all = libraries();
  REQUIRE(all.size() == 1);
  CHECK(all.front().name == "libcurl");
}
