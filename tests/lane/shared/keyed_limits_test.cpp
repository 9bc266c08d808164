// The subscribers of a pool, and the places for their running records.
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

TEST_CASE("a subscriber has places for as many records as it may run at once") {
  KeyedLimit subscriber("acme", "send acme", opens_at_once, places(3));
  CHECK(subscriber.begin(2) == 2);
  CHECK(subscriber.begin(2) == 1);
  CHECK(subscriber.begin(1) == 0);
  CHECK(subscriber.running() == 3);
  subscriber.end(2);
  CHECK(subscriber.begin(0) == 0);
  CHECK(subscriber.begin(5) == 2);
}

TEST_CASE("a subscriber without a limit has a place for every record") {
  KeyedLimit subscriber("acme", "send acme", opens_at_once, places(0));
  CHECK(subscriber.begin(100'000) == 100'000);
  CHECK(subscriber.begin(1) == 1);
  CHECK(subscriber.running() == 100'001);
}

TEST_CASE("records that take a place beyond the limit leave none free until they have ended") {
  KeyedLimit subscriber("acme", "send acme", opens_at_once, places(3));
  subscriber.take(5);
  CHECK(subscriber.begin(1) == 0);
  subscriber.end(2);
  CHECK(subscriber.begin(1) == 0);
  subscriber.end(1);
  CHECK(subscriber.begin(5) == 1);
}

TEST_CASE("a lower limit lets running records end, and begins none meanwhile") {
  KeyedLimit subscriber("acme", "send acme", opens_at_once, places(3));
  CHECK(subscriber.begin(3) == 3);
  subscriber.set_most(1);
  CHECK(subscriber.begin(1) == 0);
  subscriber.end(3);
  CHECK(subscriber.begin(3) == 1);
}

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
  for (const auto& subscriber : {before, after}) {
    CHECK(subscriber->begin(3) == 1);
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
