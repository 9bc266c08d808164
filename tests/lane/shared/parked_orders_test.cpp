// What operators order about parked records: which records an order concerns, and when it ends.
#include "lane/shared/parked_orders.h"
#include "catch.h"

using namespace laneway;
using namespace laneway::lane;
using std::chrono::minutes;

namespace {

const TimePoint ordered_at = TimePoint{} + std::chrono::hours(100);

struct StandingOrders : ParkedOrders {
  StandingOrders() { set_longest_delay(minutes(10)); }
};

ParkedOrder give_up_of(std::string pool, std::optional<std::string> subscriber = {}) {
  return {.pool = std::move(pool),
          .subscriber = std::move(subscriber),
          .reason = "ticket 4711",
          .given = ordered_at};
}

}  // namespace

TEST_CASE("an order concerns the records that were parked before it") {
  StandingOrders orders;
  CHECK_FALSE(orders.any());
  CHECK_FALSE(orders.sends_on(ordered_at, ordered_at));
  REQUIRE(orders.give({.given = ordered_at}));
  CHECK(orders.any());
  CHECK(orders.sends_on(ordered_at - minutes(9), ordered_at + seconds(1)));
  CHECK_FALSE(orders.sends_on(ordered_at + seconds(1), ordered_at + seconds(2)));
  CHECK_FALSE(orders.gives_up("send", "acme", ordered_at - minutes(9)));
}

TEST_CASE("records of the pool, or only those of the subscriber, are given up with the reason") {
  StandingOrders orders;
  REQUIRE(orders.give(give_up_of("send", "acme")));
  REQUIRE(orders.give(give_up_of("mail")));
  const auto before = ordered_at - seconds(1);
  CHECK(orders.gives_up("send", "acme", before) == "ticket 4711");
  CHECK_FALSE(orders.gives_up("send", "bobs", before));
  CHECK(orders.gives_up("mail", "", before) == "ticket 4711");
  CHECK(orders.gives_up("mail", "anybody", before) == "ticket 4711");
  CHECK_FALSE(orders.gives_up("send", "acme", ordered_at + seconds(1)));
  CHECK(orders.sends_on(before, ordered_at));  // only its pool knows whose the record is
  orders.note_given_up("send", "acme", before);
  const auto standing = orders.standing(ordered_at);
  REQUIRE(standing.size() == 2);
  CHECK(standing[0].given_up == 1);
  CHECK(standing[1].given_up == 0);
}

TEST_CASE("an order ends when no record that it concerns came back for as long as the longest delay") {
  StandingOrders orders;
  REQUIRE(orders.give({.given = ordered_at}));
  const auto before = ordered_at - seconds(1);
  CHECK(orders.standing(ordered_at + minutes(10)).size() == 1);
  CHECK(orders.sends_on(before, ordered_at + minutes(9)));
  CHECK(orders.standing(ordered_at + minutes(19)).size() == 1);
  CHECK_FALSE(orders.sends_on(ordered_at + minutes(1), ordered_at + minutes(15)));
  CHECK(orders.standing(ordered_at + minutes(20)).empty());
  CHECK_FALSE(orders.any());
  CHECK_FALSE(orders.sends_on(before, ordered_at + minutes(20)));
}

TEST_CASE("an order stands for ten minutes at least, however short the delays are") {
  StandingOrders orders;
  orders.set_longest_delay(minutes(1));
  REQUIRE(orders.give({.given = ordered_at}));
  CHECK(orders.standing(ordered_at + minutes(10)).size() == 1);
  CHECK(orders.standing(ordered_at + minutes(10) + seconds(1)).empty());
}

TEST_CASE(
    "a later order about the same records replaces the first one, and the number of orders is limited") {
  StandingOrders orders;
  for (std::size_t i = 0; i < ParkedOrders::most; ++i)
    REQUIRE(orders.give(give_up_of("send", "subscriber " + std::to_string(i))));
  CHECK_FALSE(orders.give(give_up_of("send", "one more")));
  auto again = give_up_of("send", "subscriber 7");
  again.reason = "ticket 4712";
  CHECK(orders.give(again));
  CHECK(orders.standing(ordered_at).size() == ParkedOrders::most);
  CHECK(orders.gives_up("send", "subscriber 7", ordered_at) == "ticket 4712");
}
