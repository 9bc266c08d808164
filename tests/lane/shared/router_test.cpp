#include "lane/shared/router.h"

#include "catch.h"

namespace laneway::lane {
namespace {

const std::vector<std::string> pools{"bulk", "gold", "free"};

config::RouteSettings by_header() {
  config::RouteSettings route;
  route.by = {config::Selector::Kind::header, "tenant"};
  route.rows = {{"free-trial", false, "gold"}, {"free-", true, "free"}, {"gold", false, "gold"}};
  route.otherwise = "bulk";
  return route;
}

kafka::Record record_of(std::optional<std::string> tenant) {
  kafka::RecordData data;
  data.topic = "orders";
  if (tenant) data.headers = {{"tenant", *tenant}};
  return kafka::Record(data);
}

TEST_CASE("the first matching row decides, and the default takes unknown texts") {
  const Router router(by_header(), pools);
  CHECK(router.pool_of(record_of("gold")) == 1);
  CHECK(router.pool_of(record_of("free-9")) == 2);
  CHECK(router.pool_of(record_of("free-trial")) == 1);
  CHECK(router.pool_of(record_of("goldfish")) == 0);
  CHECK(router.pool_of(record_of("")) == 0);
  CHECK(router.pool_of(record_of(std::nullopt)) == 0);
  CHECK(router.entries() == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("an earlier row with a prefix decides before a later row with the exact text") {
  auto route = by_header();
  std::swap(route.rows[0], route.rows[1]);
  CHECK(Router(route, pools).pool_of(record_of("free-trial")) == 2);
}

TEST_CASE("without a selector every record goes to one pool") {
  CHECK(Router({}, pools).pool_of(record_of("gold")) == 0);
  CHECK(Router({}, pools).entries() == std::vector<std::size_t>{0});
}

TEST_CASE("pools get records in turn, as often as the list names them") {
  config::RouteSettings route;
  route.by = {config::Selector::Kind::round_robin, ""};
  route.rows = {{"", false, "free"}, {"", false, "gold"}, {"", false, "free"}};
  const Router router(route, pools);
  CHECK(router.entries() == std::vector<std::size_t>{1, 2});
  std::vector<std::size_t> taken;
  for (std::uint64_t sequence = 0; sequence < 6; ++sequence) {
    handler::Item item;
    item.sequence = sequence;
    taken.push_back(router.pool_of(item));
  }
  CHECK(taken == std::vector<std::size_t>{2, 1, 2, 2, 1, 2});
}

TEST_CASE("a record is routed by a field of its value") {
  config::RouteSettings route;
  route.by = {config::Selector::Kind::value, "/customer/tier"};
  route.rows = {{"1", false, "gold"}};
  route.otherwise = "bulk";
  const Router router(route, pools);
  kafka::RecordData data;
  data.value = R"({"customer":{"tier":1}})";
  CHECK(router.pool_of(kafka::Record(data)) == 1);
  data.value = R"({"customer":{"tier":[1]}})";
  CHECK(router.pool_of(kafka::Record(data)) == 0);
  data.value = "not JSON";
  CHECK(router.pool_of(kafka::Record(data)) == 0);
  data.value.reset();
  CHECK(router.pool_of(kafka::Record(data)) == 0);
}

}  // namespace
}  // namespace laneway::lane
