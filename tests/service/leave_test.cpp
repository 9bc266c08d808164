// How a member leaves its group. On an embedded cluster.
#include "captured_log.h"
#include "lane/consumer_loop.h"
#include "service/support.h"

using namespace laneway;
using namespace laneway::service;
using Cluster = kafka::EmbeddedCluster;

TEST_CASE("a member that is told to stop while it joins its group again leaves when the join has ended") {
  const CapturedLog log;
  World world(1);
  world.config.lanes.drain = patience;
  // The embedded coordinator holds a join open for a second less than the session: longer than a member waits
  // for the answer to its leave.
  world.config.kafka["session.timeout.ms"] = {"8000", "", false};
  const auto service = world.started();
  REQUIRE(eventually([&] { return service->snapshot().size() == 1; }));
  world.cluster->fail_next(Cluster::Request::heartbeat, 1, Cluster::Failure::rebalancing);
  REQUIRE(eventually(
      [&] { return metric(*service, "rebalances_total", "revoke") == 1 && service->snapshot().empty(); }));
  stop_cleanly(*service);
  CHECK(log.lines({"msg=\"leaving the group took too long\""}) == 0);
}

// So it joins for the first time, and after it was expelled. (That case itself cannot be shown here: of a
// member that it has expelled the embedded coordinator keeps a ghost, which leads the group until the session
// is over.)
TEST_CASE(
    "a member that joins without a name leaves by the name that the group gives it") {
  World world(1);
  TestHandler handler(world.history, do_nothing, seconds(30), 256);
  lane::LaneContext context;
  context.handler = &handler;
  context.lanes.drain = patience;
  lane::ConsumerLoop loop(
      context,
      {world.config.kafka, world.config.topics, world.config.commit, std::make_shared<lane::StillDraining>()},
      [] {});
  REQUIRE(loop.start());
  // The embedded coordinator waits three seconds for other members.
  REQUIRE(
      eventually([&] { return loop.stats().joining_since_ns.get() > 0 || loop.stats().assigned.get() > 0; }));
  loop.stop();
  REQUIRE(loop.join(Deadline::in(2 * patience)));
  CHECK(loop.stats().assigned.get() == 1);
}
