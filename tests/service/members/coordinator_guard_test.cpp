// What is done about members that have no coordinator although brokers answer, in virtual time.
#include "service/members/coordinator_guard.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::service;
using Step = CoordinatorGuard::Step;

namespace {

constexpr Duration unit = seconds(30);

/// A member's time without a coordinator, as the statistics of its client show it once a second.
struct Story {
  CoordinatorGuard guard;
  TimePoint now{seconds(3600)};
  Duration missing{};
  bool reachable = true;  // by a new client
  int questions = 0;
  std::vector<Step> steps{};

  void pass(Duration time, bool without_coordinator) {
    for (const auto end = now + time; now < end;) {
      now += seconds(1);
      missing = without_coordinator ? missing + seconds(1) : Duration::zero();
      if (!guard.question_due(missing, unit, now)) continue;
      ++questions;
      const auto step = guard.hear(reachable, unit, now);
      if (step == Step::wait) continue;
      steps.push_back(step);
      missing = {};  // of new members
    }
  }
};

}  // namespace

TEST_CASE("a client that lost its coordinator is replaced once, and then the process ends") {
  Story story;
  story.pass(seconds(119), true);
  CHECK(story.questions == 0);
  story.pass(seconds(1), true);
  CHECK(story.steps == std::vector{Step::renew});
  story.pass(seconds(119), true);
  CHECK(story.steps.size() == 1);
  story.pass(seconds(1), true);
  CHECK(story.steps == std::vector{Step::renew, Step::end});
}

TEST_CASE("a coordinator that no client reaches is an outage, which causes questions but no step") {
  Story story;
  story.reachable = false;
  story.pass(seconds(36000), true);
  CHECK(story.steps.empty());
  CHECK(story.questions == 10 * 120 - 3);
  story.pass(seconds(1), false);
  story.pass(seconds(119), true);
  CHECK(story.steps.empty());
}

TEST_CASE("members have time to find a coordinator that no client reached before") {
  Story story;
  story.reachable = false;
  story.pass(seconds(600), true);
  story.reachable = true;
  SECTION("they find it") {
    story.pass(seconds(30), true);
    story.pass(seconds(200), false);
    CHECK(story.steps.empty());
    story.pass(seconds(120), true);
  }
  SECTION("they do not") {
    story.pass(seconds(59), true);
    CHECK(story.steps.empty());
    story.pass(seconds(1), true);
  }
  CHECK(story.steps == std::vector{Step::renew});
}

TEST_CASE("coordinators that are away for a minute again and again cause no step") {
  Story story;
  for (int i = 0; i < 100; ++i) story.pass(seconds(100), true), story.pass(seconds(5), false);
  CHECK(story.questions == 0);
}

TEST_CASE("members that reached their coordinator again may be replaced again, at any number") {
  Story story;
  for (int i = 0; i < 10; ++i) story.pass(seconds(120), true), story.pass(seconds(121), false);
  CHECK(story.steps == std::vector(10, Step::renew));
}

TEST_CASE("new members without a report do not count as members with a coordinator") {
  Story story;
  story.pass(seconds(120), true);
  story.pass(seconds(60), false);  // their first statistics
  story.pass(seconds(120), true);
  CHECK(story.steps == std::vector{Step::renew, Step::end});
}
