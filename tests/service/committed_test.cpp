// A member that gets partitions starts from the last commit, offset and completion map, however long the
// coordinator takes to answer. On an embedded cluster.
#include "captured_log.h"
#include "kafka/client/client_support.h"
#include "lane/commit/stored_commit.h"
#include "lane/ledger/completion_map.h"
#include "service/support.h"

using namespace laneway;
using namespace laneway::service;
using Cluster = kafka::MockCluster;

namespace {

constexpr int records = 50;
constexpr std::int64_t unfinished = 3;

/// A partition with one unfinished record: the committed map holds the records after it.
struct Handed : World {
  explicit Handed(const std::string& metadata = lane::encode({unfinished, {{unfinished + 1, records}}}))
      : World(1) {
    produce(records);
    auto consumer = kafka::Consumer::create(config.kafka, {}, [] {});
    REQUIRE(consumer);
    REQUIRE((*consumer)->commit(1, {{{"orders", 0}, unfinished, metadata}}));
    REQUIRE(eventually([&] {
      const auto event = (*consumer)->poll();
      return event && std::holds_alternative<kafka::CommitResult>(*event);
    }));
    consumer->reset();
  }

  /// Checks that only that record was run. Asks the lane, because a request of the test for committed offsets
  /// would take the delays and failures that are meant for the member's request.
  void expect_only_the_unfinished(const Service& service) {
    CHECK(eventually([&] {
      const auto lanes = service.snapshot();
      return lanes.size() == 1 && lanes.front().committed == records;
    }));
    CHECK(history.done_in_all() == 1);
    CHECK(history.started({0, unfinished}) == 1);
  }
};

}  // namespace

TEST_CASE("committed offsets that arrive after the first request was given up are used") {
  Handed world;
  REQUIRE(world.cluster->delay_next(1, Cluster::Request::offset_fetch, {milliseconds(700)}));
  const auto service = world.started();
  world.expect_only_the_unfinished(*service);
  stop_cleanly(*service);
}

TEST_CASE("a coordinator that is always slow gets a longer deadline") {
  Handed world;
  const std::vector<milliseconds> each(100, milliseconds(900));
  REQUIRE(world.cluster->delay_next(1, Cluster::Request::offset_fetch, each));
  const auto service = world.started();
  world.expect_only_the_unfinished(*service);
  stop_cleanly(*service);
}

TEST_CASE("a coordinator that is slow because of thousands of partitions gets a longer deadline") {
  World world(1000);
  const std::vector<milliseconds> each(100, milliseconds(1700));  // one partition may take 1.5 s
  REQUIRE(world.cluster->delay_next(1, Cluster::Request::offset_fetch, each));
  CHECK(world.committed().size() == 1000);
}

TEST_CASE("a lane waits for its completion map while the coordinator cannot be reached") {
  const CapturedLog log;
  Handed world;
  world.cluster->fail_next(Cluster::Request::offset_fetch, 100000);
  const auto service = world.started();
  CHECK(eventually([&] { return log.lines({"msg=\"committed offsets not read"}) > 0; }));
  world.cluster->heal(Cluster::Request::offset_fetch);
  world.expect_only_the_unfinished(*service);
  stop_cleanly(*service);
}

TEST_CASE("a member that still asks for committed offsets can stop and leave its group") {
  for (const std::string strategy : {"range", "cooperative-sticky"}) {
    INFO(strategy);
    const CapturedLog log;
    Handed world;
    world.config.kafka["partition.assignment.strategy"] = {strategy, "", false};
    world.cluster->fail_next(Cluster::Request::offset_fetch, 100000);
    const auto service = world.started();
    REQUIRE(eventually([&] { return metric(*service, "rebalances_total", "assign") == 1; }));
    stop_cleanly(*service);
    CHECK(log.lines({"msg=\"leaving the group took too long\""}) == 0);
    CHECK(world.history.done_in_all() == 0);
  }
}

TEST_CASE("a commit whose completion map is too long for the brokers is repeated with a shorter map") {
  World world(1);
  world.config.unnamed.breaker.failures = 0;  // half of the records fail
  world.config.retry.backoff = std::chrono::hours(1);
  world.config.retry.max_backoff = std::chrono::hours(1);
  const auto service = world.started([](const handler::Attempt& attempt) {
    return attempt.record.offset() % 2 == 0 ? handler::Outcome::retry("odd things happen")
                                            : handler::Outcome::done();
  });
  const auto map = [&] { return world.committed().front().metadata; };
  const auto runs = [&] { return lane::StoredCommit::read(world.committed().front()).map.runs.size(); };
  world.produce(80);
  REQUIRE(eventually([&] { return runs() == 40; }));
  const auto whole = map().size();
  world.cluster->fail_next(Cluster::Request::offset_commit, 1, Cluster::Failure::map_too_long);
  world.produce(2);
  CHECK(eventually([&] { return metric(*service, "commits_total", "failure") == 1; }));
  CHECK(eventually([&] { return runs() > 0 && map().size() <= (whole + 8) / 2; }));
  const auto acknowledged = metric(*service, "commits_total", "success");
  world.produce(2);
  CHECK(eventually([&] { return metric(*service, "commits_total", "success") > acknowledged; }));
  CHECK(map().size() <= (whole + 8) / 2);  // the next maps stay short
  service->stop();
  (void)service->wait();
  CHECK(map().size() <= (whole + 8) / 2);
}

namespace {

/// A world in which a service has finished all records but one, and has stopped.
struct Left : World {
  Left() : World(1) {
    rebalance_soon();
    produce(records);
    config.lanes.drain = milliseconds(100);
    config.retry.backoff = std::chrono::hours(1);
    config.retry.max_backoff = std::chrono::hours(1);
    const auto service = started([](const handler::Attempt& attempt) {
      return attempt.record.offset() == unfinished ? handler::Outcome::retry("not now")
                                                   : handler::Outcome::done();
    });
    CHECK(eventually([&] { return history.distinct_done() == records - 1; }));
    stop_cleanly(*service);
  }
};

/// Of topics. Where the client does not know them, a map names the cluster.
bool knows_ids() { return kafka::linked_client().version >= 0x020300ff; }

}  // namespace

TEST_CASE("a map copied to another cluster with its offset skips no record, and the log reports the map") {
  const CapturedLog log;
  Handed world(Left().committed().front().metadata);
  const auto service = world.started();
  CHECK(eventually([&] { return world.history.done_in_all() == records - unfinished; }));
  CHECK(log.lines({"completion map ignored", "topic=orders partition=0 offset=3",
                   knows_ids() ? "another topic" : "another cluster"}) == 1);
  stop_cleanly(*service);
}

TEST_CASE("a map names its topic, and the next owner of the partition uses the map") {
  Left world;
  const auto name = lane::StoredCommit::read(world.committed().front()).log;
  CHECK((knows_ids() ? name.topic.size() == 22 : !name.cluster.empty()));
  const auto next = world.started();
  CHECK(eventually([&] { return world.committed_offsets().front() == records; }));
  stop_cleanly(*next);
  CHECK(world.each_done_once());
}
