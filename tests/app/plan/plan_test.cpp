// The arithmetic of `laneway plan`, against numbers that were worked out by hand.
#include <string>

#include "app/plan/measure.h"
#include "app/plan/numbers.h"
#include "app/plan/options.h"
#include "app/plan/sizing.h"
#include "catch.h"
#include "config/schema/schema.h"
#include "lane/shared/memory_plan.h"

using namespace laneway;

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

/// By `laneway check`.
bool allowed(const char* setting, std::uint64_t value, const std::string& unit = "") {
  config::Config config;
  const config::Scope service{config, config.unnamed, config.handler};
  return !config::find_property(setting)->set(service, config::scalar_node(std::to_string(value) + unit, {}));
}

}  // namespace

TEST_CASE("the number of workers is the rate times the service time, with headroom, over the partitions") {
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

TEST_CASE("the planned workers can do more than arrives, or the plan reports that it cannot work") {
  for (const double rate : {0.01, 1.0, 99.9, 12345.0, 1e6})
    for (const Duration time : {Duration(microseconds(3)), Duration(milliseconds(1)), Duration(seconds(7))})
      for (const std::uint64_t partitions : {1, 7, 1000}) {
        auto given = load();
        given.rate = rate;
        given.service_time = time;
        given.partitions = partitions;
        const auto sizing = plan::size(given);
        CHECK((sizing.capacity >= rate || warns(sizing, "the plan cannot work")));
        CHECK(sizing.workers >= 1);
        CHECK(sizing.queue >= 2 * sizing.workers);
        CHECK(allowed("lanes.workers", sizing.workers));
        CHECK(allowed("lanes.queue", sizing.queue));
        CHECK(allowed("lanes.memory", sizing.memory >> 20, "MiB"));
      }
}

TEST_CASE("a plan that cannot work reports the reason") {
  auto given = load();
  given.cpu = milliseconds(2);
  auto sizing = plan::size(given);
  REQUIRE(sizing.instances);
  CHECK(*sizing.saturation == Approx(120));  // 16 cores x (1 + 13 / 2)
  CHECK(*sizing.cores == Approx(40));
  CHECK(*sizing.instances == 8);
  CHECK(warns(sizing, "8 instances of 8 cores are needed, not 2"));
  CHECK_FALSE(warns(sizing, "as many partitions"));
  given.cores = 2;
  CHECK(warns(plan::size(given), "29 instances need at least 29 partitions; the topic has 16"));

  given = load();
  given.instances = 20;
  CHECK(warns(plan::size(given), "4 of the instances would have no partition"));
  given.instances = 3;
  CHECK(warns(plan::size(given), "some instances have 6, others 5"));
  given.instances = 2;
  given.drain = milliseconds(100);
  CHECK(warns(plan::size(given), "longer than lanes.drain (100ms)"));
}

TEST_CASE("a plan beyond the limits of a configuration is refused, with the settings that would be enough") {
  auto given = load();
  given.rate = 1e6;
  given.service_time = seconds(1);
  given.partitions = 1;
  given.instances = 1;
  auto sizing = plan::size(given);
  CHECK(sizing.wanted_each == 1428572);
  CHECK(sizing.workers == 4096);
  CHECK(sizing.queue == 8192);
  CHECK(warns(sizing,
              "the plan cannot work: lanes.workers can be at most 4,096, so 4,096 records/s are finished and "
              "1,000,000 arrive; 349 partitions, or a shorter service time, would be enough"));
  given.backlog = 10;
  CHECK(plan::print(given, plan::size(given))
            .find("the backlog of 10 records never ends: more records arrive than are finished") !=
        std::string::npos);
  given.partitions = 349;
  CHECK_FALSE(warns(plan::size(given), "cannot work"));
  given.partitions = 300;
  CHECK(warns(plan::size(given), "the plan has little headroom"));

  given.partitions = 1;
  given.rate = 1e8;
  given.service_time = microseconds(1);
  sizing = plan::size(given);
  CHECK(sizing.queue == 1000000);
  given = load();
  given.partitions = 1000000;
  given.service_time = std::chrono::hours(1);
  given.record_bytes = 1 << 30;
  given.rate = 1e8;
  sizing = plan::size(given);
  CHECK(allowed("lanes.memory", sizing.memory >> 20, "MiB"));
  CHECK(warns(sizing, "too little memory"));
}

TEST_CASE("the memory plan has room for the records of full lanes") {
  auto given = load();
  given.record_bytes = 1000;
  auto sizing = plan::size(given);
  CHECK(sizing.lane_bytes == (313 + 27) * (1000 + 512));
  CHECK(sizing.memory_needed == 4.0 * 16 * 340 * 1512);
  CHECK(sizing.memory == 256 << 20);
  CHECK(sizing.fetched_bytes == 8 * (4 << 20));  // a quarter of a share each
  auto text = plan::print(given, sizing);
  INFO(text);
  for (const char* words :
       {"(313 + 27) x (1,000 + 512 bytes) = 502KiB in a full lane, 3.9MiB in one instance",
        "for one instance: 16 partitions x 502KiB x 4 (lane, fetched, spare) = 31.4MiB; lanes.memory is "
        "256MiB\n",
        "fetched ahead take at most 32MiB of 256MiB", "\nlanes: { workers: 27, queue: 313 }\n"})
    CHECK(text.find(words) != std::string::npos);

  given.partitions = 4;
  sizing = plan::size(given);
  CHECK(sizing.memory_needed == 4.0 * 16 * static_cast<double>(sizing.lane_bytes));
  CHECK(plan::print(given, sizing).find("for one instance: 16 partitions (the fewest) x") !=
        std::string::npos);

  given = load();
  given.record_bytes = 100000;
  sizing = plan::size(given);
  text = plan::print(given, sizing);
  INFO(text);
  CHECK(sizing.memory == 2086ULL << 20);
  CHECK(lane::plan_memory(sizing.memory, 16, 3, 1).lane_bytes >= sizing.lane_bytes);
  CHECK(text.find("lanes.memory is 256MiB, too little\n") != std::string::npos);
  CHECK(text.find("\nlanes: { workers: 27, queue: 313, memory: 2086MiB }\n") != std::string::npos);
}

TEST_CASE("a queue that adds latency and no capacity is reported") {
  auto given = load();
  given.running = plan::Running{27, 313};
  CHECK_FALSE(warns(plan::size(given), "latency"));
  given.running = plan::Running{27, 1000};  // 0.56 s: a few bursts
  CHECK_FALSE(warns(plan::size(given), "latency"));
  given.running = plan::Running{27, 2000};
  CHECK(warns(plan::size(given),
              "the queue adds latency without capacity: the last of 2,000 queued records waits "
              "1.11s for 27 workers; a queue of 313 is enough"));
  given.running = plan::Running{27, 40000};
  CHECK(warns(plan::size(given), "longer than lanes.drain (20s); a queue of 313 is enough"));
  given.running = {};
  given.service_time = seconds(15);
  given.rate = 10;
  CHECK(warns(plan::size(given), "waits 30s for 14 workers, longer than lanes.drain (20s)"));
}

TEST_CASE("a backlog ends when the capacity exceeds the rate of arrivals") {
  auto given = load();
  given.backlog = 880000;
  const auto sizing = plan::size(given);
  REQUIRE(sizing.backlog);
  CHECK(to_seconds(*sizing.backlog) == Approx(100));
}

namespace {

std::string status(const std::string& lanes, const std::string& processor) {
  return R"({"settings":{"workers":4,"queue":64,"memory_bytes":4194304,"drain_seconds":20.0},"processors":{"count":2,"seconds":)" +
         processor + R"(},"lanes":[)" + lanes + "]}";
}

std::string lane_of(int partition, int finished, const std::string& work, const std::string& lag) {
  return R"({"topic":"orders","partition":)" + std::to_string(partition) + R"(,"finished":)" +
         std::to_string(finished) + R"(,"finished_bytes":)" + std::to_string(100 * finished) +
         R"(,"work_seconds":)" + work + R"(,"lag":)" + lag + R"(,"in_flight":4,"queued":36})";
}

plan::Reading reading(const std::string& text) {
  auto read = plan::read_status(text);
  REQUIRE(read.ok());
  return *read;
}

}  // namespace

TEST_CASE("a small number is not printed as 0") {
  CHECK(plan::number(0.094) == "0.094");
  CHECK(plan::number(0.04) == "0.04");
  CHECK(plan::number(0.00333) == "0.0033");
  CHECK(plan::number(0.5) == "0.5");
  CHECK(plan::number(0.0) == "0");
  CHECK(plan::number(2.0) == "2");
}

TEST_CASE("a little processor time is not printed as no time") {
  auto given = load();
  given.cpu = microseconds(2);
  CHECK(plan::print(given, plan::size(given)).find("20,000/s x 2us = 0.04 cores") != std::string::npos);
}

TEST_CASE("the load is measured from the counters of the services") {
  const auto before =
      reading(status(lane_of(0, 1000, "10.0", "500") + ',' + lane_of(1, 0, "0", "null"), "5.0"));
  const auto after =
      reading(status(lane_of(0, 1500, "30.0", "900") + ',' + lane_of(1, 500, "20.0", "20"), "7.0"));
  const auto one = plan::measure({before}, {after}, seconds(10));
  REQUIRE(one.ok());
  CHECK(one->finished == Approx(100));
  CHECK(one->growth == Approx(42));
  CHECK(one->lag == 920);
  REQUIRE(one->load.running);
  CHECK(one->load.running->workers == 4);
  CHECK(one->load.running->queue == 64);
  CHECK(one->load.record_bytes == 100);
  CHECK(one->load.memory == 4 << 20);
  CHECK(one->load.rate == Approx(142));
  CHECK(one->load.service_time == milliseconds(40));
  CHECK(*one->load.cpu == milliseconds(2));
  CHECK(one->load.partitions == 2);
  CHECK(one->load.cores == 2);
  CHECK(one->load.backlog == 860);  // 40 of the 900 are at work or queued, and all of the 20
  const auto text = plan::print(*one, seconds(10));
  INFO(text);
  CHECK(
      text ==
      "measured over 10s: 100 records/s were finished, 142 arrived; 920 are unfinished, 42 more each second\n"
      "now: lanes: { workers: 4, queue: 64 }\n\n");
  // Two instances of the group are one load.
  const auto two = plan::measure({before, before}, {after, after}, seconds(10));
  REQUIRE(two.ok());
  CHECK(two->load.rate == Approx(284));
  CHECK(two->load.service_time == milliseconds(40));
  CHECK(two->load.instances == 2);
  CHECK(two->load.partitions == 4);
}

TEST_CASE("a load that cannot be measured is an error with a remedy") {
  const auto idle = reading(status(lane_of(0, 1000, "10.0", "0"), "5.0"));
  const auto nothing = plan::measure({idle}, {idle}, seconds(10));
  REQUIRE_FALSE(nothing.ok());
  CHECK(nothing.error().text().find("--window") != std::string::npos);
  const auto other = reading(status(lane_of(1, 2000, "10.0", "0"), "5.0"));
  const auto anew = reading(status(lane_of(0, 10, "1.0", "0"), "5.0"));
  for (const auto& after : {other, anew, reading(status("", "6.0"))})
    CHECK_FALSE(plan::measure({idle}, {after}, seconds(10)).ok());
  for (const auto* wrong : {"", "{}", "[]", R"({"lanes":[{}]})", "<html>", R"({"lanes":[]})"}) {
    INFO(wrong);
    CHECK_FALSE(plan::read_status(wrong).ok());
  }
}

TEST_CASE("given values replace measured values") {
  plan::Options options;
  options.rate = 5;
  options.partitions = 3;
  const auto given = plan::with_given(load(), options);
  CHECK(given.rate == 5);
  CHECK(given.partitions == 3);
  CHECK(given.service_time == milliseconds(15));
  CHECK(given.cores == 8);
}

TEST_CASE("a plan is printed with its arithmetic and its settings") {
  auto given = load();
  given.backlog = 880000;
  given.cpu = microseconds(100);
  const auto text = plan::print(given, plan::size(given));
  for (const char* words :
       {"20,000 records/s of 1,024 bytes, 15ms each, of which 100us processor time of laneway; 16 "
        "partitions, "
        "2 instances of 8 cores\n",
        "20,000/s x 15ms = 300 records on average (Little's law)", "over 16 partitions 27 each",
        "27 x 16 / 15ms = 28,800 records/s", "20,000/s x 100us = 2 cores; at 70 % busy 1 instance of 8 cores",
        "16 cores x (1 + wait/compute) = 16 x (1 + 14.9ms / 100us) = 2,400 running records keep all cores "
        "busy; more do not help\n              300 (Little's law) are 12.5 % of that\n",
        "880,000 records are worked off in 100s, by 8,800 records/s more than arrive",
        "\nlanes: { workers: 27, queue: 313 }\n"}) {
    INFO(words << " in\n" << text);
    CHECK(text.find(words) != std::string::npos);
  }
}

TEST_CASE("plan: durations are rounded to three digits") {
  struct Row {
    Duration duration;
    const char* text;
  };
  using std::chrono::hours;
  using std::chrono::minutes;
  for (const auto& row :
       {Row{Duration(5001556578), "5s"}, Row{Duration(9516), "9.52us"}, Row{Duration(7), "7ns"},
        Row{milliseconds(15), "15ms"}, Row{microseconds(14900), "14.9ms"}, Row{microseconds(999700), "1s"},
        Row{seconds(90), "90s"}, Row{minutes(52), "52m"}, Row{hours(30), "30h"},
        Row{Duration::zero(), "0ns"}}) {
    INFO(row.text);
    CHECK(plan::about(row.duration) == row.text);
  }
  const auto idle = reading(status(lane_of(0, 1000, "10.0", "0"), "5.0"));
  CHECK(plan::measure({idle}, {idle}, Duration(5001556578)).error().message ==
        "no record was finished in 5s, so nothing can be measured");
}

namespace {

/// A healthy service with 8 workers, which finishes so many records of 10 ms each in the window.
plan::Load healthy(int records, Duration window) {
  auto before = reading(status(lane_of(0, 0, "0", "0"), "5.0"));
  auto after = reading(status(lane_of(0, records, std::to_string(records / 100.0), "0"), "6.0"));
  before.workers = after.workers = 8;
  const auto measured = plan::measure({before}, {after}, window);
  REQUIRE(measured.ok());
  return measured->load;
}

}  // namespace

TEST_CASE("plan: a short or thin measurement does not lower the workers of a healthy service") {
  for (const auto& load :
       {healthy(500, seconds(10)), healthy(2000, seconds(10)), healthy(999, seconds(120))}) {
    const auto sizing = plan::size(load);
    CHECK(sizing.wanted_each < 8);
    CHECK(sizing.workers == 8);
    CHECK(sizing.queue == 64);
    const auto text = plan::print(load, sizing);
    INFO(text);
    CHECK(
        text.find("The current number of workers, 8 for each partition, is more than enough for the measured "
                  "load: ") != std::string::npos);
    CHECK(text.ends_with("\nlanes: { workers: 8, queue: 64 }\n"));
  }
}

TEST_CASE("plan: a load that was measured well, or is given, lowers the workers") {
  const auto well = healthy(6000, Duration(milliseconds(59800)));  // 100 records/s of 10 ms
  CHECK(plan::size(well).workers == 2);
  CHECK(plan::print(well, plan::size(well)).find("more than enough") == std::string::npos);
  plan::Options options;
  options.rate = 300;
  CHECK(plan::size(plan::with_given(healthy(500, seconds(10)), options)).workers == 5);
}

namespace {

/// One of two lanes with 8 workers; 10 ms a record.
std::string working_lane(int partition, int finished, int lag, int running, const std::string& held = {}) {
  return R"({"topic":"orders","partition":)" + std::to_string(partition) + R"(,"finished":)" +
         std::to_string(finished) + R"(,"finished_bytes":0,"work_seconds":)" +
         std::to_string(finished / 100.0) + R"(,"lag":)" + std::to_string(lag) + R"(,"in_flight":)" +
         std::to_string(running) + R"(,"workers":8,"held_by":")" + held + R"(","queued":0})";
}

plan::Load with_lane(const std::string& before, const std::string& after, Duration window = seconds(120)) {
  const auto healthy = [](int finished) { return working_lane(0, finished, 0, 2); };
  auto then = reading(status(healthy(0) + ',' + before, "5.0"));
  auto now = reading(status(healthy(6000) + ',' + after, "6.0"));
  then.workers = now.workers = 8;
  const auto measured = plan::measure({then}, {now}, window);
  REQUIRE(measured.ok());
  return measured->load;
}

std::string printed(const plan::Load& load) { return plan::print(load, plan::size(load)); }

}  // namespace

TEST_CASE("plan: a lane that does not keep up is named, and its workers are not lowered") {
  for (const Duration window : {Duration(seconds(10)), Duration(seconds(120))}) {
    const auto saturated =
        with_lane(working_lane(1, 0, 500, 8, "pool full"), working_lane(1, 4000, 1700, 8), window);
    const auto text = printed(saturated);
    INFO(text);
    CHECK_THAT(text, Catch::Contains("\nSome lanes do not keep up: orders:1 (all workers are busy, and the "
                                     "lag rises).\n"));
    CHECK_THAT(text, Catch::Contains("lanes: { workers: 8, "));
    CHECK(text.find("more than enough") == std::string::npos);
  }
  const auto held = with_lane(working_lane(1, 0, 0, 0, "max_incomplete reached"),
                              working_lane(1, 1, 900, 0, "max_incomplete reached"));
  CHECK_THAT(printed(held), Catch::Contains("orders:1 (held: max_incomplete reached)"));
  CHECK(plan::size(held).workers == 8);
  const auto full_for_a_moment =
      with_lane(working_lane(1, 0, 9, 8), working_lane(1, 4000, 9, 8, "pool full"));
  CHECK(printed(full_for_a_moment).find("keep up: orders:1 (all workers are busy, and records wait)") !=
        std::string::npos);
  const auto keeps_up = with_lane(working_lane(1, 0, 9, 8), working_lane(1, 4000, 0, 3, "pool full"));
  CHECK(keeps_up.strained.empty());
  CHECK(plan::size(keeps_up).workers < 8);
}

TEST_CASE("plan: a backlog ends by the measured rates, and grows if more arrive than are finished") {
  const auto backlog_of = [](int before, int after) {
    return printed(with_lane(working_lane(1, 0, before, 8), working_lane(1, 4000, after, 8)));
  };
  CHECK_THAT(
      backlog_of(500, 1708),
      Catch::Contains("the backlog of 1,700 records grows: 10.1 records/s more arrive than are finished\n"));
  CHECK_THAT(backlog_of(2208, 1008),
             Catch::Contains(
                 "the backlog of 1,000 records is worked off in 100s, by 10 records/s more than arrive\n"));
  CHECK_THAT(backlog_of(1008, 1008), Catch::Contains("the backlog of 1,000 records does not shrink"));
  auto load = with_lane(working_lane(1, 0, 500, 8), working_lane(1, 4000, 1708, 8));
  plan::Options options;
  options.rate = 100;
  CHECK_THAT(printed(plan::with_given(load, options)), Catch::Contains(" records are worked off in "));
}

TEST_CASE("plan: a short measurement raises the workers") {
  auto load = healthy(500, seconds(10));
  load.rate = 2000;
  CHECK(plan::size(load).workers == 29);
}
