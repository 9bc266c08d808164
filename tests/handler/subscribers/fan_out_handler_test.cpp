#include "handler/subscribers/fan_out_handler.h"

#include "handler/registry.h"
#include "handler/run.h"
#include "handler/subscribers/subscribers.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

std::unique_ptr<Handler> made_for(const std::string& path, const std::string& event = "header:type") {
  auto config = config_with(config::FanOutSettings{path, event});
  config.pools.resize(1);
  config.pools.front().then = "next";
  auto handler = make_handler(config);
  REQUIRE(handler.ok());
  return std::move(handler).value();
}

/// The names of the subscribers that get a record with this type.
std::vector<std::string> names_for(Handler& handler, std::optional<std::string> type,
                                   std::optional<std::string> comes_back_for = {}) {
  auto data = record_data(1, "the event");
  if (type) data.headers.emplace_back("type", type);
  if (comes_back_for) data.headers.emplace_back("laneway-part", comes_back_for);
  std::vector<kafka::RecordData> one;
  one.push_back(std::move(data));
  Run run(std::move(one));
  run.pass_on();
  handler.handle(run.task());
  REQUIRE(run.result().done == 1);
  REQUIRE(run.results(0));
  std::vector<std::string> names;
  for (const auto& part : *run.results(0)) {
    CHECK(part.keeps_value);
    names.push_back(part.id);
  }
  return names;
}

}  // namespace

TEST_CASE("an event goes to the enabled subscribers that want its type") {
  const SubscriberFolder folder;
  const auto handler =
      made_for(folder.write("s.yaml",
                            "- { name: all, url: http://all.example/ }\n"
                            "- { name: created, url: http://b.example/, events: order.created }\n"
                            "- { name: orders, url: http://c.example/, events: [x, 'order.*'] }\n"
                            "- { name: off, url: http://d.example/, enabled: false }\n"));
  using Names = std::vector<std::string>;
  CHECK(names_for(*handler, "order.created") == Names{"all", "created", "orders"});
  CHECK(names_for(*handler, "order.paid") == Names{"all", "orders"});
  CHECK(names_for(*handler, "invoice.paid") == Names{"all"});
  CHECK(names_for(*handler, std::nullopt) == Names{"all"});
}

TEST_CASE("the type of an event may be its topic, and an event without subscribers is done") {
  const SubscriberFolder folder;
  const auto path = folder.write("s.yaml", "- { name: a, url: http://a.example/, events: orders }\n");
  CHECK(names_for(*made_for(path, "topic"), std::nullopt).size() == 1);
  CHECK(names_for(*made_for(path, "key"), std::nullopt).empty());
}

TEST_CASE("an event that returns for one subscriber goes to that subscriber, whatever the file has now") {
  const SubscriberFolder folder;
  const auto handler = made_for(folder.write("s.yaml",
                                             "- { name: all, url: http://all.example/ }\n"
                                             "- { name: created, url: http://b.example/, events: created }\n"
                                             "- { name: off, url: http://c.example/, enabled: false }\n"));
  using Names = std::vector<std::string>;
  CHECK(names_for(*handler, "paid", "all") == Names{"all"});
  CHECK(names_for(*handler, "paid", "created") == Names{"all", "created"});
  CHECK(names_for(*handler, "paid", "off") == Names{"all", "off"});
  CHECK(names_for(*handler, "paid", "gone") == Names{"all", "gone"});
  CHECK(names_for(*handler, "paid", "gathered/gone") == Names{"all"});
}

TEST_CASE("a fan-out without a next pool, or without its file, is refused") {
  const SubscriberFolder folder;
  const auto path = folder.write("s.yaml", "[]");
  auto config = config_with(config::FanOutSettings{path, "topic"});
  CHECK_FALSE(check_handler(config).ok());
  CHECK(make_handler(config).error().message == "handler.fan_out: no other pool gets its results");
  config.pools.resize(1);
  config.pools.front().then = "next";
  CHECK(check_handler(config).ok());
  config.handler = config::FanOutSettings{path + ".none", "topic"};
  CHECK(check_handler(config).error().kind == ErrorKind::no_input);
  config.handler = config::FanOutSettings{folder.write("empty.yaml", ""), "topic"};
  CHECK(check_handler(config).error().message.ends_with("empty.yaml: the file is empty"));
}
