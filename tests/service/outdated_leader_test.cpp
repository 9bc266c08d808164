// An outdated leader reports that an offset is out of range, and the client goes back to the log's start: a
// whole service on an embedded cluster, with the real client.
#include "captured_log.h"
#include "catch.h"
#include "service/support.h"

using namespace laneway;
using namespace laneway::service;

namespace {

using Request = kafka::MockCluster::Request;
using Failure = kafka::MockCluster::Failure;

constexpr int batch = 100;  // records

struct OutdatedLeader : World {
  OutdatedLeader() : World(1) {}

  /// Whether all produced records are done and committed.
  bool caught_up() {
    return eventually([&] { return committed_offsets() == ends(); });
  }
  /// The next fetches are refused.
  void answers_by_an_old_log(std::size_t fetches) {
    const auto before = log.lines({"the client went back to offset 0"});
    cluster->fail_next(Request::fetch, fetches, Failure::out_of_range);
    REQUIRE(eventually([&] { return log.lines({"the client went back to offset 0"}) > before; }));
  }

  CapturedLog log;
};

}  // namespace

TEST_CASE_METHOD(OutdatedLeader, "an outdated leader leads no lane back to the log's start") {
  produce(batch);
  const auto service = started();
  REQUIRE(caught_up());
  for (int i = 1; i <= 3; ++i) {
    answers_by_an_old_log(1);
    REQUIRE(eventually([&] { return log.lines({"position found", "a broker's answer was outdated"}) == i; }));
    CHECK(committed_offsets() == ends());
    produce(batch);
    REQUIRE(caught_up());
  }
  CHECK(each_done_once());
  CHECK(log.lines({"offsets went back"}) == 0);
  stop_cleanly(*service);
}

TEST_CASE_METHOD(OutdatedLeader, "a running lane goes on at its place when an outdated leader answers") {
  Gate gate;
  most_per_task = 1;
  produce(batch);
  const auto service = started([&](const handler::Attempt& attempt) {
    if (attempt.record.offset() == batch / 2) gate.wait();
    return handler::Outcome::done();
  });
  REQUIRE(eventually([&] { return history.distinct_done() == batch - 1; }));
  answers_by_an_old_log(2);
  produce(batch);
  gate.open();
  REQUIRE(caught_up());
  CHECK(each_done_once());
  stop_cleanly(*service);
}
