// A story that fails is cut down to what it fails by. A stand-in plays the stories.
#include "stories/shrink.h"

#include <algorithm>

#include "catch.h"
#include "eventually.h"

using namespace laneway;
using namespace laneway::stories;

namespace {

bool has(const Story& story, Fault::Kind kind) {
  return std::any_of(story.faults.begin(), story.faults.end(),
                     [kind](const Fault& fault) { return fault.kind == kind; });
}

/// A story with many parts, of which some do not matter.
Story large_story() {
  Story story;
  story.name = "1";
  story.brokers = 3;
  story.partitions = 8;
  story.members = 3;
  story.order = config::Order::key;
  story.poison = 5;
  story.old = true;
  story.faults = {
      {Fault::Kind::slow, 100, 500}, {Fault::Kind::suspend, 300, 500}, {Fault::Kind::reload, 700}};
  return story;
}

/// Breaks a rule if the story has a suspension and an order. If it has no order, it breaks another rule.
std::optional<Result> stand_in(const Story& story) {
  Result result;
  if (!has(story, Fault::Kind::suspend)) return result;
  result.breaches = {{story.order == config::Order::none ? "another rule" : "the rule", "because"}};
  return result;
}

}  // namespace

TEST_CASE("a failing story is cut down to the fault and the setting that break the rule") {
  const auto story = large_story();
  const auto failed = stand_in(story);
  REQUIRE(failed->breaches.size() == 1);
  const auto smallest = shrink(story, *failed, patience, stand_in);
  REQUIRE(smallest.story.faults.size() == 1);
  CHECK(smallest.story.faults.front().kind == Fault::Kind::suspend);
  CHECK(smallest.story.order == config::Order::key);
  CHECK(smallest.story.members == 1);
  CHECK(smallest.story.partitions == 1);
  CHECK(smallest.story.brokers == 1);
  CHECK(smallest.story.poison == 0);
  CHECK_FALSE(smallest.story.old);
  REQUIRE(smallest.result.breaches.size() == 1);
  CHECK(smallest.result.breaches.front().rule == "the rule");
  REQUIRE(stand_in(smallest.story)->breaches.size() == 1);
}

TEST_CASE("a failing story stays as it is if every smaller one passes or cannot be judged") {
  const auto story = large_story();
  const auto nothing_fails = [](const Story&) { return std::optional<Result>(Result{}); };
  const auto nothing_ends = [](const Story&) { return std::optional<Result>(); };
  for (const Player& player : {Player(nothing_fails), Player(nothing_ends)})
    CHECK(shrink(story, *stand_in(story), patience, player).story.name == story.name);
}
