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

TEST_CASE_METHOD(Webhooks, "the forecast says when the first record leaves, and counts those of others") {
  INFO(said());
  CHECK(
      says("room of a partition: 10000 records from the oldest unfinished one to the newest, finished ones "
           "and those of others too (lanes.max_incomplete), and about 2000 unfinished records of 1KiB (its "
           "share of lanes.memory)"));
  CHECK(says(
      "send: if 100 records/s of the partition come (assumed), and a subscriber is out, its first record "
      "leaves after 10s, when 1000 records have come since, whoever they are for\n"));
  CHECK(says("waits in {topic}-hooks-retry-10s, then {topic}-hooks-retry-1m"));
}

TEST_CASE_METHOD(Webhooks, "the forecast says how many records of a subscriber wait in the retry topics") {
  pool().each.longest_wait = std::chrono::hours(24);
  INFO(said());
  CHECK(
      says("; of a subscriber with 10 records/s in all partitions (each.rate), up to 864000 records wait in "
           "the retry topics before the first one becomes a dead letter (each.longest_wait: 24h)\n"));
  pool().each.rate.records = 0;
  CHECK(says("; what has waited for 24h becomes a dead letter (each.longest_wait)\n"));
}

TEST_CASE_METHOD(Webhooks,
                 "the forecast says when records leave early, because they would fill the partition") {
  config.lanes.max_incomplete = 400;
  INFO(said());
  CHECK(says("leaves after 2s, when 200 records have come since"));
  config.lanes.rate.records = 1000;
  CHECK(says("if 1000 records/s of the partition come (lanes.rate), and a subscriber is out"));
  CHECK(says("leaves after 200ms, when 200 records have come since, whoever they are for\n"));
}

TEST_CASE_METHOD(Webhooks, "the forecast says when the records of a subscriber alone use the memory up") {
  config.lanes.rate.records = 200;
  INFO(said());
  CHECK(
      says("after 10s, when 2000 records have come since, whoever they are for, or after 5s, if all are of "
           "1KiB and for that subscriber\n"));
  pool().each.by.kind = config::Selector::Kind::part;
  CHECK(says("whoever they are for, or after 3s, if all are of 1KiB and for that subscriber\n"));
}

TEST_CASE_METHOD(Webhooks, "without parking, the forecast says when the partition stops") {
  config.lanes.order = config::Order::key;
  INFO(said());
  CHECK(says("parking: none, because with lanes.order: key"));
  CHECK(says(
      "if 100 records/s of the partition come (assumed), and a subscriber is out, the partition stops "
      "after 100s, when 10000 records have come since, whoever they are for, or after 20s, if all are of "
      "1KiB and for that subscriber\n"));
}

TEST_CASE_METHOD(Webhooks, "a pool without others beside it has no forecast of parking") {
  pool().each = {};
  CHECK(said().empty());
}
