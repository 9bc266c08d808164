// The last hours as GET /history serves them.
#include "admin/json/status_json.h"

#include <nlohmann/json.hpp>

#include "catch.h"

using namespace laneway;
using service::TimelineEvent;
using service::TimelineSample;

TEST_CASE("samples are rows under columns, and events have words for their levels") {
  service::TimelineNews news{1000, 6000, true, 9, {}, {}};
  news.samples = {
      {.number = 7, .at_ms = 5000, .lag = 12, .dead_letters = 3, .rate = 280.04F, .rebalances = 2},
      {.number = 8, .at_ms = 10'000, .ready = false, .breaker = delivery::BreakerState::half_open}};
  news.events = {{4, 9, 2000, 3000, TimelineEvent::Level::bad, "Not ready: <b>\xff"}};
  const auto json = nlohmann::json::parse(admin::history_json(news));
  CHECK(json.at("started") == 1000);
  CHECK(json.at("last") == 9);
  CHECK(json.at("now") == 6000);
  CHECK(json.at("complete") == true);
  CHECK(json.at("columns") ==
        nlohmann::json{"number", "at_ms", "rate", "lag", "ready", "breaker", "dead_letters", "rebalances"});
  CHECK(json.at("samples")[0] == nlohmann::json{7, 5000, 280.0, 12, true, "closed", 3, 2});
  CHECK(json.at("samples")[1] == nlohmann::json{8, 10'000, 0.0, 0, false, "half_open", 0, 0});
  const auto& event = json.at("events")[0];
  CHECK(event.at("id") == 4);
  CHECK(event.at("since_ms") == 2000);
  CHECK(event.at("at_ms") == 3000);
  CHECK(event.at("level") == "bad");
  CHECK(event.at("text") == "Not ready: <b>\xef\xbf\xbd");
}

TEST_CASE("six hours are less than half a megabyte") {
  service::TimelineNews news{1000, 6000, true, 9, {}, {}};
  news.samples.resize(service::Timeline::most_samples, {.number = 123'456'789,
                                                        .at_ms = 1'790'000'000'000,
                                                        .lag = 123'456'789,
                                                        .dead_letters = 1'000'000,
                                                        .rate = 123'456.7F,
                                                        .rebalances = 1000});
  CHECK(admin::history_json(news).size() < 500'000);
}
