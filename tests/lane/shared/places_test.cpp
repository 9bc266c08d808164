// The places of a subscriber, and whose turn it is to take one.
#include "lane/shared/places.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "catch.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

/// Askers that want places all the time, and how many places each has had.
struct Shared {
  explicit Shared(std::uint32_t places_of_all, std::size_t askers = 1)
      : places(places_of_all), had(askers), signals(askers) {
    for (std::size_t i = 0; i < askers; ++i) all.push_back({[this, i] { ++signals[i]; }});
  }
  std::uint32_t begin(std::uint32_t wanted) { return places.begin(all[0], wanted, now); }
  /// A place becomes free, and all askers ask in this order.
  void next(const std::vector<std::size_t>& order) {
    places.end(1);
    for (const auto i : order) had[i] += places.begin(all[i], 1, now);
    CHECK(places.running() == most);
  }

  TimePoint now{seconds(1000)};
  Places places;
  std::deque<Places::Asker> all;
  std::vector<int> had;
  std::vector<int> signals;
  std::uint32_t most = 3;
};

}  // namespace

TEST_CASE("a subscriber has places for as many records as it may run at once") {
  Shared acme(3);
  CHECK(acme.begin(2) == 2);
  CHECK(acme.begin(2) == 1);
  CHECK(acme.begin(1) == 0);
  CHECK(acme.places.running() == 3);
  acme.places.end(2);
  CHECK(acme.begin(0) == 0);
  CHECK(acme.begin(5) == 2);
}

TEST_CASE("a subscriber without a limit has a place for every record") {
  Shared acme(0, 2);
  CHECK(acme.begin(100'000) == 100'000);
  CHECK(acme.places.begin(acme.all[1], 1, acme.now) == 1);
  CHECK(acme.places.running() == 100'001);
}

TEST_CASE("records that take a place beyond the limit leave none free until they have ended") {
  Shared acme(3);
  acme.places.take(5);
  CHECK(acme.begin(1) == 0);
  acme.places.end(2);
  CHECK(acme.begin(1) == 0);
  acme.places.end(1);
  CHECK(acme.begin(5) == 1);
}

TEST_CASE("a lower limit lets running records end, and begins none meanwhile") {
  Shared acme(3);
  CHECK(acme.begin(3) == 3);
  acme.places.set_most(1);
  CHECK(acme.begin(1) == 0);
  acme.places.end(3);
  CHECK(acme.begin(3) == 1);
}

TEST_CASE("askers that all want places get equally many, whoever asks first") {
  const std::size_t askers = GENERATE(2, 3, 8);
  Shared acme(3, askers);
  REQUIRE(acme.begin(3) == 3);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < askers; ++i) order.push_back(i);
  if (GENERATE(true, false)) std::reverse(order.begin(), order.end());
  for (std::size_t place = 0; place < 10 * askers; ++place) acme.next(order);
  for (const auto had : acme.had) CHECK((had >= 9 && had <= 11));
}

TEST_CASE("an asker that comes later gets one of as many places as there are askers") {
  const std::size_t askers = GENERATE(2, 3, 8);
  Shared acme(3, askers);
  REQUIRE(acme.begin(3) == 3);
  std::vector<std::size_t> others;
  for (std::size_t i = 1; i < askers; ++i) others.push_back(i);
  for (int place = 0; place < 50; ++place) acme.next(others);
  others.push_back(0);
  for (std::size_t place = 0; place < askers; ++place) acme.next(others);
  CHECK(acme.had[0] == 1);
}

TEST_CASE("what an asker does not want goes to the others") {
  Shared acme(3, 2);
  REQUIRE(acme.begin(3) == 3);
  CHECK(acme.places.begin(acme.all[1], 1, acme.now) == 0);
  acme.places.leave(acme.all[1]);
  acme.places.end(2);
  CHECK(acme.begin(2) == 2);
  CHECK(acme.places.begin(acme.all[1], 1, acme.now) == 0);
  acme.places.end(1);
  CHECK(acme.begin(1) == 0);
  acme.now += milliseconds(201);  // the other one has not asked again
  CHECK(acme.begin(1) == 1);
}

TEST_CASE("the asker whose turn it is learns that a place is free") {
  Shared acme(1, 2);
  REQUIRE(acme.begin(1) == 1);
  CHECK(acme.places.begin(acme.all[1], 1, acme.now) == 0);
  CHECK(acme.signals == std::vector<int>{0, 0});
  acme.places.end(1);
  CHECK(acme.signals == std::vector<int>{0, 1});
  CHECK(acme.begin(1) == 0);
  CHECK(acme.signals == std::vector<int>{0, 2});
  acme.places.leave(acme.all[1]);
  CHECK(acme.signals == std::vector<int>{1, 2});
  acme.places.set_most(2);
  CHECK(acme.begin(2) == 2);
  CHECK(acme.signals == std::vector<int>{2, 2});
}
