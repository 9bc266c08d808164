#include "lane/position/retention_watch.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::lane;

TEST_CASE("a lane without progress is in danger if the next step of the log's start reaches it") {
  RetentionWatch watch;
  CHECK_FALSE(watch.observe({0, 10000}, 2500));
  CHECK_FALSE(watch.observe({1000, 10000}, 2500));  // the next step deletes the records below 2000
  CHECK(watch.observe({2000, 10000}, 2500));
  CHECK(watch.distance() == 500);
  CHECK(watch.last_step() == 1000);
}

TEST_CASE("a lane as fast as the log's start is in no danger, however near") {
  RetentionWatch watch;
  for (std::int64_t start = 0; start < 10000; start += 1000) {
    CHECK_FALSE(watch.observe({start, start + 900}, start + 890));
  }
}

TEST_CASE("a lane that has caught up is in no danger, and a lane that goes on leaves the danger") {
  RetentionWatch watch;
  watch.observe({0, 100}, 100);
  CHECK_FALSE(watch.observe({100, 100}, 100));
  CHECK(watch.observe({100, 150}, 110));
  CHECK_FALSE(watch.observe({100, 300}, 250));
}

TEST_CASE("a recreated log is watched from the beginning, and unknown offsets are ignored") {
  RetentionWatch watch;
  watch.observe({0, 100}, 50);
  REQUIRE(watch.observe({40, 100}, 50));
  CHECK(watch.observe({-1, -1}, 50));
  CHECK_FALSE(watch.observe({0, 100}, 0));
}
