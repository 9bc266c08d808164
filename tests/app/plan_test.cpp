// The arithmetic of `laneway plan`, against numbers that were worked out by hand.
#include <string>

#include "app/plan/print.h"
#include "app/plan/sizing.h"
#include "catch.h"

using namespace laneway;
using namespace laneway::app;

namespace {

plan::Load load() {
  plan::Load load;
  load.rate = 20000;
  load.service_time = milliseconds(15);
  load.partitions = 16;
  load.instances = 2;
  load.cores = 8;
  return load;
}

bool warns(const plan::Sizing& sizing, const std::string& words) {
  for (const auto& warning : sizing.warnings)
    if (warning.find(words) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("workers are the rate times the time of a record, with headroom, over the partitions") {
  const auto sizing = plan::size(load());
  CHECK(sizing.at_work == Approx(300));
  CHECK(sizing.wanted == 429);
  CHECK(sizing.workers == 27);
  CHECK(sizing.connections == 432);
  CHECK(sizing.capacity == Approx(28800));
  CHECK(sizing.most_partitions == 8);
  CHECK(sizing.queue == 313);
  CHECK(sizing.queue_wait > milliseconds(173));
  CHECK(sizing.queue_wait < milliseconds(175));
  CHECK_FALSE(sizing.cores);
  CHECK(sizing.warnings.empty());
}

TEST_CASE("what these workers do is always more than what comes") {
  for (const double rate : {0.01, 1.0, 99.9, 12345.0, 1e6})
    for (const Duration time : {Duration(microseconds(3)), Duration(milliseconds(1)), Duration(seconds(7))})
      for (const std::uint64_t partitions : {1, 7, 1000}) {
        auto given = load();
        given.rate = rate;
        given.service_time = time;
        given.partitions = partitions;
        const auto sizing = plan::size(given);
        CHECK(sizing.capacity >= rate);
        CHECK(sizing.workers >= 1);
        CHECK(sizing.queue >= 2 * sizing.workers);
      }
}

TEST_CASE("a plan that cannot work says why") {
  auto given = load();
  given.cpu = milliseconds(2);
  auto sizing = plan::size(given);
  REQUIRE(sizing.instances);
  CHECK(*sizing.cores == Approx(40));
  CHECK(*sizing.instances == 8);
  CHECK(warns(sizing, "8 instances of 8 cores are needed, not 2"));
  CHECK_FALSE(warns(sizing, "as many partitions"));
  given.cores = 2;
  CHECK(warns(plan::size(given), "as many partitions at least: 29, not 16"));

  given = load();
  given.instances = 20;
  CHECK(warns(plan::size(given), "4 of the instances would have no partition"));
  given.instances = 3;
  CHECK(warns(plan::size(given), "some instances have 6, others 5"));
  given.instances = 2;
  given.drain = milliseconds(100);
  CHECK(warns(plan::size(given), "longer than lanes.drain (100ms)"));
}

TEST_CASE("a backlog is gone when there is more capacity than records come") {
  auto given = load();
  given.backlog = 880000;
  const auto sizing = plan::size(given);
  REQUIRE(sizing.backlog);
  CHECK(to_seconds(*sizing.backlog) == Approx(100));
}

TEST_CASE("a plan is printed with its arithmetic and the settings") {
  auto given = load();
  given.backlog = 880000;
  given.cpu = microseconds(100);
  const auto text = plan::print(given, plan::size(given));
  for (const char* words :
       {"20,000 records/s, 15ms each, 100us of it processor time here; 16 partitions, 2 instances of 8 "
        "cores\n",
        "20,000/s x 15ms = 300 records on average (Little's law)", "over 16 partitions 27 each",
        "27 x 16 / 15ms = 28,800 records/s", "20,000/s x 100us = 2 cores; at 70 % busy 1 instance of 8 cores",
        "880,000 records at 8,800 more than come are gone after 100s",
        "\nlanes: { workers: 27, queue: 313 }\n"}) {
    INFO(words << " in\n" << text);
    CHECK(text.find(words) != std::string::npos);
  }
}
