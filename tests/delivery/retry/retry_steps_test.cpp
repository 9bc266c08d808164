#include "delivery/retry/retry_steps.h"

#include <rapidcheck.h>

#include <limits>

#include "catch.h"

using namespace laneway;
using delivery::RetryStep;
using delivery::RetrySteps;

namespace {

RetrySteps two_topics() {
  RetrySteps steps;
  for (const char* source : {"orders", "bills"})
    steps.add(source, {{std::string(source) + "-retry-5s", seconds(5)},
                       {std::string(source) + "-retry-1m", std::chrono::minutes(1)}});
  return steps;
}

}  // namespace

TEST_CASE("a source leads to its first retry topic, each to the next, and the last to the dead letter") {
  const auto steps = two_topics();
  const auto* source = steps.find("orders");
  REQUIRE(source != nullptr);
  CHECK_FALSE(source->delayed());
  CHECK(source->next == "orders-retry-5s");
  const auto* first = steps.find(source->next);
  REQUIRE(first != nullptr);
  CHECK(first->delay == seconds(5));
  CHECK(first->next == "orders-retry-1m");
  const auto* second = steps.find(first->next);
  REQUIRE(second != nullptr);
  CHECK(second->delayed());
  CHECK(second->next.empty());
  for (const auto& [topic, step] : steps.all()) CHECK(topic.starts_with(step.source));
  CHECK(steps.all().size() == 6);
  CHECK(steps.find("orders-retry-2m") == nullptr);
}

TEST_CASE("parked records go from topic to topic, and come back to the last one") {
  RetrySteps steps;
  const bool failed = GENERATE(false, true);
  steps.add("orders", {{"short", seconds(5)}, {"long", seconds(60)}}, {.failed = failed, .parked = true});
  CHECK(steps.find("orders")->parks_in == "short");
  CHECK(steps.find("short")->parks_in == "long");
  CHECK(steps.find("long")->parks_in == "long");
  CHECK(steps.find("orders")->next == (failed ? "short" : ""));
  CHECK(steps.find("long")->next.empty());
  CHECK(steps.find("long")->topic == "long");
  CHECK(two_topics().find("orders")->parks_in.empty());
}

TEST_CASE("without retry topics a source leads to the dead letter") {
  RetrySteps steps;
  steps.add("orders", {});
  CHECK(steps.find("orders")->next.empty());
  CHECK_FALSE(steps.find("orders")->delayed());
}

TEST_CASE("the path through retry topics ends, however many topics there are") {
  REQUIRE(rc::check("", [] {
    const auto count = *rc::gen::inRange<std::size_t>(0, 20);
    std::vector<std::pair<std::string, Duration>> topics;
    for (std::size_t i = 0; i < count; ++i) topics.emplace_back("r" + std::to_string(i), seconds(i + 1));
    RetrySteps steps;
    steps.add("orders", topics);
    std::size_t passed = 0;
    for (const auto* at = steps.find("orders"); !at->next.empty() && passed <= count;
         at = steps.find(at->next))
      ++passed;
    RC_ASSERT(passed == count);
  }));
}

TEST_CASE("a record waits for its timestamp plus the delay, and never longer than the delay") {
  const RetryStep step{"orders", "", seconds(5)};
  constexpr std::int64_t now = 1'700'000'000'000;
  CHECK(step.wait(now, now) == seconds(5));
  CHECK(step.wait(now - 2000, now) == seconds(3));
  CHECK(step.wait(now - 4999, now) == milliseconds(1));
  CHECK(step.wait(now - 5000, now) == Duration::zero());
  CHECK(step.wait(0, now) == Duration::zero());
  CHECK(step.wait(now + 1, now) == seconds(5));  // of another clock
  CHECK(step.wait(std::numeric_limits<std::int64_t>::max(), now) == seconds(5));
  CHECK(step.wait(-1, now) == seconds(5));  // no timestamp
  CHECK(step.wait(std::numeric_limits<std::int64_t>::min(), now) == seconds(5));
  CHECK(step.wait(0, std::numeric_limits<std::int64_t>::max()) == Duration::zero());
}

TEST_CASE("no timestamp makes a record wait longer than the delay, or a negative time") {
  const RetryStep step{"orders", "", std::chrono::hours(168)};
  REQUIRE(rc::check("", [&](std::int64_t timestamp) {
    const auto now = *rc::gen::nonNegative<std::int64_t>();
    const auto left = step.wait(timestamp, now);
    RC_ASSERT(left >= Duration::zero());
    RC_ASSERT(left <= step.delay);
  }));
}
