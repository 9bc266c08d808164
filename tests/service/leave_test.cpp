// What stays committed while partitions leave, and how a member leaves its group. On an embedded cluster.
#include <array>

#include "captured_log.h"
#include "lane/commit/stored_commit.h"
#include "lane/ledger/completion_map.h"
#include "lane/member/consumer_loop.h"
#include "service/support.h"

using namespace laneway;
using namespace laneway::service;
using Cluster = kafka::MockCluster;

namespace {

/// Whether this record, which is above the committed offset, is committed as done.
bool committed_as_done(World& world, std::size_t partition, std::int64_t offset) {
  return lane::StoredCommit::read(world.committed().at(partition)).map.contains(offset);
}

enum class Seen : std::uint8_t { committed, not_committed, disturbed };

/// Two members share a topic; the first one's handler keeps the partition that it must give up from draining,
/// and the other partition goes on.
Seen stays_committed() {
  World world(2);
  world.rebalance_soon();
  world.config.lanes.drain = patience;
  world.config.kafka["partition.assignment.strategy"] = {"cooperative-sticky", "", false};
  Gate drained;
  std::array<Gate, 2> second_records;
  const auto first = world.started([&](const handler::Attempt& attempt) {
    if (attempt.record.offset() == 0) drained.wait();
    if (attempt.record.offset() == 1)
      second_records[static_cast<std::size_t>(attempt.record.partition())].wait();
    return handler::Outcome::done();
  });
  REQUIRE(eventually([&] { return first->snapshot().size() == 2; }));
  world.produce(3);
  REQUIRE(eventually([&] { return world.history.started({0, 0}) + world.history.started({1, 0}) == 2; }));
  const auto second = world.started();
  REQUIRE(eventually([&] { return metric(*first, "lane_state", "draining") == 1; }));
  const auto refused = metric(*first, "commits_total", "failure");
  std::size_t stays = 0;
  for (const auto& lane : first->snapshot())
    if (lane.state != lane::State::draining) stays = static_cast<std::size_t>(lane.partition);
  second_records[stays].open();
  auto seen = Seen::not_committed;
  (void)eventually([&] {
    if (metric(*first, "commits_total", "failure") > refused) seen = Seen::disturbed;
    if (committed_as_done(world, stays, 1)) seen = Seen::committed;
    return seen != Seen::not_committed;
  });
  if (seen == Seen::committed) CHECK(metric(*first, "lane_state", "draining") == 1);
  for (auto& gate : second_records) gate.open();
  drained.open();
  CHECK(eventually([&] { return world.committed_offsets() == world.ends(); }));
  stop_cleanly(*second);
  stop_cleanly(*first);
  return seen;
}

}  // namespace

TEST_CASE("a lane that stays commits while another lane drains for its new member") {
  // The embedded coordinator refuses the SyncGroup of a member that sends its own after the leader's. Then
  // the member joins again, and until all others have done so every commit is refused.
  auto seen = Seen::disturbed;
  for (int i = 0; i < 20 && seen == Seen::disturbed; ++i) seen = stays_committed();
  CHECK(seen == Seen::committed);
}

TEST_CASE("a member that stops while it joins its group again leaves when the join has ended") {
  const CapturedLog log;
  World world(1);
  world.config.lanes.drain = patience;
  // The embedded coordinator holds a join open for a second less than the session: longer than a member waits
  // for the answer to its leave.
  world.config.kafka["session.timeout.ms"] = {"8000", "", false};
  const auto service = world.started();
  REQUIRE(eventually([&] { return service->snapshot().size() == 1; }));
  world.read_a_record();
  world.cluster->fail_next(Cluster::Request::heartbeat, 1, Cluster::Failure::rebalancing);
  REQUIRE(eventually(
      [&] { return metric(*service, "rebalances_total", "revoke") == 1 && service->snapshot().empty(); }));
  stop_cleanly(*service);
  CHECK(log.lines({"msg=\"leaving the group took too long\""}) == 0);
}

// So the member joins for the first time, and after it was expelled. (Expulsion itself cannot be shown here:
// for an expelled member the embedded coordinator keeps a ghost, which leads the group until the session is
// over.)
TEST_CASE("a member without a name leaves by the id that the group has assigned") {
  World world(1);
  TestHandler handler(world.history, do_nothing, seconds(30), 256);
  lane::Downstream no_breaker("none", {.breaker = {.failures = 0}});
  lane::LaneContext context;
  context.stages.resize(1);
  context.stages.front().handler = &handler;
  context.stages.front().downstream = &no_breaker;
  context.lanes.drain = patience;
  lane::ConsumerLoop loop(context,
                          {world.config.kafka,
                           {world.config.topics},
                           world.config.commit,
                           std::make_shared<lane::StillDraining>()},
                          [] {});
  REQUIRE(loop.start());
  // The embedded coordinator waits three seconds for other members.
  REQUIRE(
      eventually([&] { return loop.stats().joining_since_ns.get() > 0 || loop.stats().assigned.get() > 0; }));
  loop.stop();
  REQUIRE(loop.join(Deadline::in(2 * patience)));
  CHECK(loop.stats().assigned.get() == 1);
}
