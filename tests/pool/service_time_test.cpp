#include "pool/service_time.h"

#include "catch.h"

using namespace laneway;
using pool::ServiceTime;

namespace {

ServiceTime measured(Duration of_one_job) {
  ServiceTime time;
  time.record(of_one_job * 10, 10);
  return time;
}

}  // namespace

TEST_CASE("claims start with one job and follow the measured service time between 1 and 256") {
  CHECK(ServiceTime().claim_size() == 1);
  CHECK(measured(nanoseconds(1)).claim_size() == 256);
  CHECK(measured(microseconds(1)).claim_size() == 50);
  CHECK(measured(microseconds(10)).claim_size() == 5);
  CHECK(measured(microseconds(50)).claim_size() == 1);
  CHECK(measured(seconds(10)).claim_size() == 1);
}

TEST_CASE("a clock that stood still counts as a known service time") {
  ServiceTime time;
  time.record(Duration::zero(), 256);
  CHECK(time.known());
  CHECK(time.average() == nanoseconds(1));
  CHECK(time.claim_size() == 256);
}

TEST_CASE("one slow claim moves the average by an eighth, a lasting change carries it over") {
  auto time = measured(microseconds(1));
  time.record(microseconds(9), 1);
  CHECK(time.average() == microseconds(2) + nanoseconds(1));
  for (int i = 0; i < 30; ++i) time.record(milliseconds(10), 1);
  CHECK(time.claim_size() == 1);
  CHECK(time.average() > milliseconds(9));
}

TEST_CASE(
    "a worker is woken when nobody is awake, when nothing is known, or when the queue outlasts a wake-up") {
  CHECK(ServiceTime().worth_a_wake_up(1, 8));
  const auto time = measured(microseconds(1));
  CHECK(time.worth_a_wake_up(1, 0));
  CHECK_FALSE(time.worth_a_wake_up(10, 1));
  CHECK(time.worth_a_wake_up(11, 1));
  CHECK_FALSE(time.worth_a_wake_up(20, 2));
  CHECK(time.worth_a_wake_up(21, 2));
}

TEST_CASE("what was forgotten is unknown") {
  auto time = measured(microseconds(1));
  time.forget();
  CHECK_FALSE(time.known());
  CHECK(time.average() == Duration::zero());
  CHECK(time.claim_size() == 1);
}
