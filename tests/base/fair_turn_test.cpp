#include "base/fair_turn.h"

#include <map>

#include "catch.h"

using namespace laneway;

TEST_CASE("the turn goes to the first that asked, and a new request waits behind the others") {
  const TimePoint now{seconds(1)};
  FairTurn<int> turn(seconds(2));
  CHECK_FALSE(turn.first(now));
  for (const int who : {3, 1, 2, 3}) turn.ask(who, now);
  CHECK(turn.size() == 3);
  CHECK(turn.ahead_of(3) == 0);
  CHECK(turn.ahead_of(2) == 2);
  CHECK(turn.first(now) == 3);
  turn.leave(3);
  turn.ask(3, now);
  CHECK(turn.first(now) == 1);
  turn.leave(2);
  turn.leave(1);
  CHECK_FALSE(turn.takes_part(1));
  CHECK(turn.first(now) == 3);
}

TEST_CASE("the turn goes to the one that has had least, and idle ones gather no credit") {
  const TimePoint now{seconds(1)};
  FairTurn<int> turn;
  std::map<int, double> had;
  const auto serve = [&](int times) {
    for (int i = 0; i < times; ++i) {
      const int who = *turn.first(now);
      had[who] += who;
      turn.had(who, who);
    }
  };
  for (const int who : {1, 2, 5}) turn.ask(who, now);
  serve(850);
  for (const int who : {1, 2, 5}) CHECK(std::abs(had[who] - 500) <= 5);
  turn.ask(10, now);
  serve(900);
  for (const int who : {1, 2, 5}) CHECK(std::abs(had[who] - 1000) <= 10);
  CHECK(std::abs(had[10] - 500) <= 10);
  turn.had(10, -100);
  CHECK(turn.first(now) == 10);
}

TEST_CASE("an owner of the turn that falls silent delays the others no longer than the patience") {
  TimePoint now{seconds(1)};
  FairTurn<int> turn(seconds(2));
  for (const int who : {1, 2}) turn.ask(who, now);
  now += seconds(2);
  turn.ask(2, now);
  CHECK(turn.first(now) == 1);
  now += milliseconds(1);
  CHECK(turn.first(now) == 2);
  turn.ask(1, now);
  CHECK(turn.ahead_of(1) > 0);
}

TEST_CASE("participants that come and go do not go before one that waits more than once each") {
  const TimePoint now{seconds(1)};
  FairTurn<int> turn;
  int waiting = 0;
  for (const int who : {0, 1}) turn.ask(who, now);
  turn.had(0, 1);
  for (int i = 0; i < 30; ++i) {
    const int who = *turn.first(now);
    if (who > 0) turn.ask(3 - who, now);  // one of the two is always there
    turn.had(who, 1);
    if (who > 0)
      turn.leave(who);
    else
      ++waiting;
  }
  CHECK(waiting >= 9);
}
