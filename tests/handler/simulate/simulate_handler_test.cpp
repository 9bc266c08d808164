#include "handler/simulate/simulate_handler.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <thread>

#include "catch.h"
#include "handler/run.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

config::SimulateSettings nothing() {
  config::SimulateSettings settings;
  settings.sleep.p50 = Duration::zero();
  return settings;
}

std::unique_ptr<Handler> made(const config::SimulateSettings& settings) {
  auto handler = SimulateHandler::make(settings);
  REQUIRE(handler.ok());
  return std::move(handler).value();
}

std::vector<bool> failures(Handler& handler, int count, std::uint32_t attempt = 1) {
  std::vector<bool> out;
  for (int offset = 0; offset < count; ++offset)
    out.push_back(outcome_of(handler, record_data(offset, "v"), attempt).verdict == Verdict::retry);
  return out;
}

}  // namespace

TEST_CASE("without settings, every record is done") {
  const auto handler = made(nothing());
  CHECK(outcome_of(*handler, record_data(1, "v")).verdict == Verdict::done);
}

TEST_CASE("the configured number of results goes to the next pool, each with the record's value") {
  auto settings = nothing();
  settings.results = 3;
  std::vector<kafka::RecordData> one;
  one.push_back(record_data(1, "v"));
  Run run(std::move(one));
  run.pass_on();
  made(settings)->handle(run.task());
  REQUIRE(run.result().done == 1);
  REQUIRE(run.results(0));
  REQUIRE(run.results(0)->size() == 3);
  CHECK(run.results(0)->at(2).id == "2");
  CHECK(run.results(0)->at(2).value == "v");
}

TEST_CASE("the configured fraction fails: the same records in a new handler, others at the next attempt") {
  auto settings = nothing();
  settings.fail = 0.25;
  const auto handler = made(settings);
  const auto first = failures(*handler, 4000);
  const auto count = std::count(first.begin(), first.end(), true);
  CHECK(count > 850);  // 1000 expected, deviation 27
  CHECK(count < 1150);
  CHECK(failures(*made(settings), 4000) == first);
  CHECK(failures(*handler, 4000) != first);
  CHECK(failures(*made(settings), 4000, 2) != first);
}

TEST_CASE("at fraction 0 no record fails, and at fraction 1 every record") {
  auto settings = nothing();
  settings.fail = 1;
  CHECK(failures(*made(settings), 50) == std::vector<bool>(50, true));
  settings.fail = 0;
  settings.spin = microseconds(1);
  CHECK(failures(*made(settings), 50) == std::vector<bool>(50, false));
}

TEST_CASE("a sleep lasts at least its time") {
  auto settings = nothing();
  settings.sleep.p50 = milliseconds(5);
  const auto handler = made(settings);
  const auto start = SteadyClock::now();
  CHECK(outcome_of(*handler, record_data(1, "v")).verdict == Verdict::done);
  CHECK(SteadyClock::now() - start >= milliseconds(5));
}

TEST_CASE("a spin uses at least its time of the processor") {
  auto settings = nothing();
  settings.spin = milliseconds(5);
  const auto handler = made(settings);
  const auto processor_ns = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
  };
  const auto start = processor_ns();
  outcome_of(*handler, record_data(1, "v"));
  CHECK(processor_ns() - start >= 5'000'000);
}

TEST_CASE("random sleeps have the configured percentiles") {
  const config::SimulateSettings::Sleep sleep{milliseconds(5), milliseconds(100)};
  std::vector<Duration> sleeps;
  for (int i = 0; i < 300; ++i)
    for (int j = 0; j < 300; ++j) sleeps.push_back(simulated_sleep(sleep, (i + 0.5) / 300, (j + 0.5) / 300));
  std::sort(sleeps.begin(), sleeps.end());
  CHECK(std::abs(to_seconds(sleeps[45000]) - 0.005) < 0.0001);
  CHECK(std::abs(to_seconds(sleeps[89100]) - 0.1) < 0.005);
}

TEST_CASE("a stop ends a sleep, a spin and a hang") {
  auto sleeping = nothing(), spinning = nothing(), hanging = nothing(), hanging_partition = nothing();
  sleeping.sleep.p50 = std::chrono::hours(1);
  spinning.spin = std::chrono::hours(1);
  hanging.hang = 1;
  hanging_partition.hang_partitions = {3};
  for (const auto& settings : {sleeping, spinning, hanging, hanging_partition}) {
    const auto handler = made(settings);
    std::vector<kafka::RecordData> one;
    one.push_back(record_data(1, "v"));
    Run run(std::move(one));
    std::thread worker([&] { handler->handle(run.task()); });
    run.stop();
    worker.join();
    REQUIRE(run.result().failures.size() == 1);
    CHECK(run.result().failures[0].outcome.verdict == Verdict::retry);
    CHECK(run.result().failures[0].outcome.cause == Cause::timeout);
  }
}

TEST_CASE("only the named partitions hang") {
  auto settings = nothing();
  settings.hang_partitions = {0, 4};
  CHECK(outcome_of(*made(settings), record_data(1, "v")).verdict == Verdict::done);
}

TEST_CASE("the time-out is the configured one") {
  auto settings = nothing();
  settings.timeout = seconds(7);
  CHECK(made(settings)->timeout() == seconds(7));
}

TEST_CASE("settings that describe no behaviour are refused by name") {
  auto fail = nothing(), percentiles = nothing();
  fail.fail = 1.5;
  percentiles.sleep = {milliseconds(10), milliseconds(5)};
  for (const auto& settings : {fail, percentiles}) {
    const auto refused = SimulateHandler::make(settings);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == ErrorKind::configuration);
    CHECK(refused.error().message.starts_with("handler.simulate: "));
    CHECK_FALSE(refused.error().hint.empty());
  }
}
