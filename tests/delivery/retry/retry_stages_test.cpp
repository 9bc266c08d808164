#include "delivery/retry/retry_stages.h"

#include <rapidcheck.h>

#include <limits>

#include "catch.h"

using namespace laneway;
using delivery::RetryStage;
using delivery::RetryStages;

namespace {

RetryStages two_topics() {
  RetryStages stages;
  for (const char* source : {"orders", "bills"})
    stages.add(source, {{std::string(source) + "-retry-5s", seconds(5)},
                        {std::string(source) + "-retry-1m", std::chrono::minutes(1)}});
  return stages;
}

}  // namespace

TEST_CASE("a source leads to its first retry topic, each to the next, and the last to the dead letter") {
  const auto stages = two_topics();
  const auto* source = stages.find("orders");
  REQUIRE(source != nullptr);
  CHECK_FALSE(source->delayed());
  CHECK(source->next == "orders-retry-5s");
  const auto* first = stages.find(source->next);
  REQUIRE(first != nullptr);
  CHECK(first->delay == seconds(5));
  CHECK(first->next == "orders-retry-1m");
  const auto* second = stages.find(first->next);
  REQUIRE(second != nullptr);
  CHECK(second->delayed());
  CHECK(second->next.empty());
  for (const auto& [topic, stage] : stages.all()) CHECK(topic.starts_with(stage.source));
  CHECK(stages.all().size() == 6);
  CHECK(stages.find("orders-retry-2m") == nullptr);
}

TEST_CASE("without retry topics a source leads to the dead letter") {
  RetryStages stages;
  stages.add("orders", {});
  CHECK(stages.find("orders")->next.empty());
  CHECK_FALSE(stages.find("orders")->delayed());
}

TEST_CASE("the path through retry topics ends, however many topics there are") {
  REQUIRE(rc::check("", [] {
    const auto count = *rc::gen::inRange<std::size_t>(0, 20);
    std::vector<std::pair<std::string, Duration>> topics;
    for (std::size_t i = 0; i < count; ++i) topics.emplace_back("r" + std::to_string(i), seconds(i + 1));
    RetryStages stages;
    stages.add("orders", topics);
    std::size_t steps = 0;
    for (const auto* at = stages.find("orders"); !at->next.empty() && steps <= count;
         at = stages.find(at->next))
      ++steps;
    RC_ASSERT(steps == count);
  }));
}

TEST_CASE("a record waits for its timestamp plus the delay, and never longer than the delay") {
  const RetryStage stage{"orders", "", seconds(5)};
  constexpr std::int64_t now = 1'700'000'000'000;
  CHECK(stage.wait(now, now) == seconds(5));
  CHECK(stage.wait(now - 2000, now) == seconds(3));
  CHECK(stage.wait(now - 4999, now) == milliseconds(1));
  CHECK(stage.wait(now - 5000, now) == Duration::zero());
  CHECK(stage.wait(0, now) == Duration::zero());
  CHECK(stage.wait(now + 1, now) == seconds(5));  // of another clock
  CHECK(stage.wait(std::numeric_limits<std::int64_t>::max(), now) == seconds(5));
  CHECK(stage.wait(-1, now) == seconds(5));  // no timestamp
  CHECK(stage.wait(std::numeric_limits<std::int64_t>::min(), now) == seconds(5));
  CHECK(stage.wait(0, std::numeric_limits<std::int64_t>::max()) == Duration::zero());
}

TEST_CASE("no timestamp makes a record wait longer than the delay, or a negative time") {
  const RetryStage stage{"orders", "", std::chrono::hours(168)};
  REQUIRE(rc::check("", [&](std::int64_t timestamp) {
    const auto now = *rc::gen::nonNegative<std::int64_t>();
    const auto left = stage.wait(timestamp, now);
    RC_ASSERT(left >= Duration::zero());
    RC_ASSERT(left <= stage.delay);
  }));
}
