// What `laneway check` says of records that wait while others of their partition go on.
#include "app/check/parking_forecast.h"

#include "catch.h"
#include "lane/shared/memory_plan.h"

using namespace laneway;

namespace {

/// A pool that sends 10 records a second to each subscriber, and room for 2,000 records of 1 KiB.
struct Webhooks {
  Webhooks() {
    config.topics = {"events"};
    config.kafka["group.id"].value = "hooks";
    pool().name = "send";
    pool().each = {.by = {config::Selector::Kind::key, ""}, .rate = {10, 0, seconds(1)}};
  }
  config::PoolSettings& pool() { return config.pools.front(); }
  std::string said() const { return app::parking_forecast(config, 2000 * (1024 + lane::record_overhead)); }
  bool says(const std::string& words) const { return said().find(words) != std::string::npos; }

  config::Config config = [] {
    config::Config one;
    one.pools.resize(1);
    return one;
  }();
};

}  // namespace

TEST_CASE_METHOD(Webhooks, "the forecast says how many records wait when the first of them is parked") {
  INFO(said());
  CHECK(says("room of a partition: about 2000 records of 1KiB (its share of lanes.memory)"));
  CHECK(says(
      "send: if a subscriber is out, and 10 records/s come for it, 100 records of it wait when the first "
      "one leaves\n"));
  CHECK(says("waits in {topic}-hooks-retry-10s, then {topic}-hooks-retry-1m"));
  pool().each.longest_wait = std::chrono::hours(24);
  CHECK(
      says("up to 864000 records of it wait in the retry topics before the first one becomes a dead letter"));
}

TEST_CASE_METHOD(Webhooks,
                 "the forecast says when records leave early, because they would fill the partition") {
  pool().each.rate.records = 500;
  INFO(said());
  CHECK(says("500 records/s come for it, half of the room is used up after 2s, and its records leave then"));
  config.lanes.max_incomplete = 400;
  CHECK(says("room of a partition: about 400 records of 1KiB (lanes.max_incomplete)"));
  CHECK(says("half of the room is used up after 400ms"));
}

TEST_CASE_METHOD(Webhooks, "without parking, the forecast says when the partition stops") {
  config.lanes.order = config::Order::key;
  INFO(said());
  CHECK(says("parking: none, because with lanes.order: key"));
  CHECK(says("10 records/s come for it, the room is used up in 200s\n"));
}

TEST_CASE_METHOD(Webhooks, "a pool without others beside it has no forecast of parking") {
  pool().each = {};
  CHECK(said().empty());
}
