// What the metrics of a service report, also while it is not ready.
#include "service/status/families.h"

#include <thread>

#include "service/support.h"

using namespace laneway;
using namespace laneway::service;
using telemetry::Family;

namespace {

/// The value of the sample whose last label has this value.
double value(const Family& family, const std::string& label) {
  for (const auto& sample : family.samples)
    if (sample.labels.back().second == label) return sample.value;
  FAIL(family.name << " has no sample of " << label);
  return 0;
}

const Family& named(const std::vector<Family>& families, const std::string& name) {
  for (const auto& family : families)
    if (family.name == name) return family;
  FAIL("no metric is called " << name);
  return families.front();
}

}  // namespace

TEST_CASE("each reason has a series that counts the affected lanes and members") {
  const auto ready = reason_family({});
  const auto family = reason_family({{{ReasonCode::no_broker, "member 1: none", "", -1},
                                      {ReasonCode::stalled, "orders:1: none", "orders", 1},
                                      {ReasonCode::stalled, "orders:2: none", "orders", 2}}});
  REQUIRE(family.samples.size() == reason_names.size());
  for (const auto& row : reason_names) {
    CHECK(value(ready, std::string(row.name)) == 0);
    CHECK(value(family, std::string(row.name)) == (row.code == ReasonCode::no_broker ? 1
                                                   : row.code == ReasonCode::stalled ? 2
                                                                                     : 0));
  }
}

TEST_CASE("members are counted by their assignment, and the longest time without a broker is shown") {
  const auto families = member_families({{.assigned = true, .lanes = 3},
                                         {.assigned = true, .no_broker = seconds(7), .lanes = 1},
                                         {.assigned = true},
                                         {.assigned = true, .awaited_offsets = 2},
                                         {.no_broker = seconds(80)}});
  const auto& members = named(families, "members");
  CHECK(value(members, "partitions") == 3);
  CHECK(value(members, "empty") == 1);
  CHECK(value(members, "none") == 1);
  CHECK(named(families, "without_broker_seconds").samples.at(0).value == 80);
}

TEST_CASE("without members, the time without a broker is unknown") {
  const auto families = member_families({});
  CHECK(families.size() == 1);
  CHECK(value(named(families, "members"), "none") == 0);
}

TEST_CASE("during an outage of the brokers, the lag of lost partitions stays, and the reason is a metric") {
  World world(2);
  world.rebalance_soon();
  world.produce(6);
  world.config.lanes.drain = milliseconds(100);
  const auto service = world.started([&](const handler::Attempt& attempt) {
    if (attempt.record.offset() > 0) (void)attempt.stop.wait_until(SteadyClock::now() + 2 * patience);
    return attempt.record.offset() > 0 ? handler::Outcome::retry("stopped") : handler::Outcome::done();
  });
  std::thread waiting([&] { (void)service->wait(); });
  CHECK(eventually([&] { return metric(*service, "lane_lag_records") == 10; }));
  CHECK(metric(*service, "lane_state", "lost") == 0);
  CHECK(metric(*service, "members", "partitions") == 1);
  CHECK(metric(*service, "not_ready_reasons") == 0);
  world.cluster.reset();
  REQUIRE(eventually([&] { return service->snapshot().empty(); }));  // the client has lost its partitions
  CHECK(metric(*service, "lane_lag_records") == 10);
  CHECK(metric(*service, "lane_state", "lost") == 2);
  CHECK(metric(*service, "lane_state", "running") == 0);
  CHECK(metric(*service, "members", "none") == 1);
  CHECK(eventually([&] { return metric(*service, "not_ready_reasons", "no_broker") == 1; }));
  CHECK(named(service->families(), "without_broker_seconds").samples.at(0).value >= 10);
  CHECK(named(service->families(), "process_start_timestamp_seconds").samples.at(0).value > 1.7e9);
  service->stop();
  waiting.join();
}
