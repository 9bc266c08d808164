#include "base/stop_token.h"

#include <thread>

#include "catch.h"

using namespace laneway;

TEST_CASE("a stop reaches the tickets that it names, and no later ticket") {
  StopState state;
  StopToken first{&state, 1};
  StopToken second{&state, 2};
  CHECK_FALSE(first.stop_requested());
  state.stop_up_to(1);
  CHECK(first.stop_requested());
  CHECK_FALSE(second.stop_requested());
  state.stop_up_to(StopState::all);
  CHECK(second.stop_requested());
  state.stop_up_to(1);
  CHECK(second.stop_requested());
}

TEST_CASE("a stop wakes its waiting token") {
  StopState state;
  StopToken token{&state, 7};
  std::thread stopper([&] { state.stop_up_to(7); });
  CHECK(token.wait_until(SteadyClock::now() + seconds(60)));
  stopper.join();
}

TEST_CASE("a waiting token without a stop waits until its deadline") {
  StopState state;
  StopToken token{&state, 7};
  const auto at = SteadyClock::now() + milliseconds(5);
  CHECK_FALSE(token.wait_until(at));
  CHECK(SteadyClock::now() >= at);
}
