// The subscribers of a pool.
#include "lane/shared/keyed_limits.h"

#include <memory>
#include <string>
#include <vector>

#include "catch.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

const DownstreamRules opens_at_once{.breaker = {.failures = 1, .window = seconds(30), .probe = seconds(5)}};
const TimePoint called_at{seconds(1000)};

config::Each places(std::uint32_t workers) { return {.by = {}, .rate = {}, .workers = workers}; }

void open_breaker_of(KeyedLimit& subscriber) {
  const std::string reason = "refused";
  subscriber.downstream.failed({.reason = reason}, called_at);
}

struct SendingPool {
  /// Uses up what is left of the most subscribers that are remembered.
  void fill() {
    for (auto i = subscribers.all().size(); i < KeyedLimits::most; ++i)
      kept.push_back(subscribers.find("tenant " + std::to_string(i)));
  }
  KeyedLimits subscribers{"send", opens_at_once, places(3)};
  std::vector<std::shared_ptr<KeyedLimit>> kept;
};

}  // namespace

TEST_CASE_METHOD(SendingPool, "lanes that ask for the same text share a subscriber") {
  const auto acme = subscribers.find("acme");
  CHECK(subscribers.find("acme") == acme);
  CHECK(subscribers.find("Acme") != acme);
  CHECK(acme->text() == "acme");
  CHECK(acme->downstream.name() == "send acme");
  CHECK(subscribers.all().size() == 2);
}

TEST_CASE_METHOD(SendingPool,
                 "new limits apply to the subscribers that exist, and to those that come later") {
  const auto before = subscribers.find("before");
  config::Each each = places(1);
  each.rate = {5, 0, seconds(1)};
  subscribers.change({.breaker = {.failures = 0}}, each, called_at);
  const auto after = subscribers.find("after");
  const Places::Asker asker{[] {}};
  for (const auto& subscriber : {before, after}) {
    CHECK(subscriber->places.begin(asker, 3, called_at) == 1);
    subscriber->places.leave(asker);
    CHECK(subscriber->rate.room(this, called_at).records == 5);
    open_breaker_of(*subscriber);
    CHECK(subscriber->downstream.closed());  // there is no breaker
  }
}

TEST_CASE_METHOD(SendingPool, "subscribers that no lane uses are forgotten once there are many") {
  const auto used = subscribers.find("used");
  open_breaker_of(*subscribers.find("out"));
  fill();
  kept.clear();
  CHECK(subscribers.all().size() == KeyedLimits::most);
  const auto next = subscribers.find("next");
  CHECK(next->text() == "next");
  CHECK(subscribers.all().size() == 3);
  CHECK(subscribers.find("used") == used);
  CHECK_FALSE(subscribers.find("out")->downstream.closed());  // an outage is worth knowing
}

TEST_CASE_METHOD(SendingPool, "further texts share a subscriber while too many are in use") {
  fill();
  const auto first = subscribers.find("one too many");
  CHECK(first->text().empty());
  CHECK(first->downstream.name() == "send (others)");
  CHECK(subscribers.find("another one") == first);
  CHECK(subscribers.find("tenant 0") == kept.front());
  kept.clear();
  CHECK(subscribers.find("one too many") != first);  // there is room again
}

TEST_CASE_METHOD(SendingPool, "nothing has waited for long enough while calls of those that worked fail") {
  const auto acme = subscribers.find("acme"), initech = subscribers.find("initech");
  constexpr Duration longest = seconds(10);
  subscribers.note_worked(called_at);
  auto now = called_at + longest;
  const auto has_waited = [&] { return subscribers.has_waited(longest, longest, now); };
  REQUIRE(has_waited());
  SECTION("one whose breaker opens") {
    open_breaker_of(*acme);
    subscribers.note_failed(*acme, false, now);
  }
  SECTION("two of them") {
    subscribers.note_failed(*acme, false, now);
    CHECK(has_waited());
    subscribers.note_failed(*initech, false, now);
  }
  SECTION("because of a fault on this side") { subscribers.note_failed(*acme, true, now); }
  CHECK_FALSE(has_waited());
  subscribers.note_worked(now);
  CHECK(has_waited());
}

TEST_CASE_METHOD(SendingPool, "one that was out before others worked is no sign of an outage of all") {
  const auto acme = subscribers.find("acme");
  open_breaker_of(*acme);
  const auto now = called_at + seconds(20);
  subscribers.note_worked(now - seconds(10));
  subscribers.note_failed(*acme, false, now);
  CHECK(subscribers.has_waited(seconds(10), seconds(10), now));
}
