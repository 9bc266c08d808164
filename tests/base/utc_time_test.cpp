// Times as people read them.
#include "base/utc_time.h"

#include "catch.h"

using namespace laneway;

TEST_CASE("a time is written in UTC, to the millisecond") {
  CHECK(utc_time(0) == "1970-01-01T00:00:00.000Z");
  CHECK(utc_time(1767362531007) == "2026-01-02T14:02:11.007Z");
}

TEST_CASE("a time of today is written without the date") {
  CHECK(utc_clock(1767362531007, 1767362531007 + 3600 * 1000) == "14:02:11Z");
  CHECK(utc_clock(1767362531007, 1767362531007 + 10 * 3600 * 1000) == "2026-01-02 14:02:11Z");
}
