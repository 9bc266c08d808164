// When a member counts as joining: by what the owner says, and by the requests of a client at an embedded
// cluster.
#include "kafka/group/join_watch.h"

#include <memory>

#include "catch.h"
#include "eventually.h"
#include "kafka/client/handle.h"
#include "mock_cluster.h"

using namespace laneway;
using namespace laneway::kafka;

namespace {

/// A consumer that its watch sees, of a cluster of one broker.
struct WatchedMember {
  WatchedMember() {
    auto started = MockCluster::start(1);
    REQUIRE(started);
    cluster = std::move(started).value();
    REQUIRE(cluster->create_topic("orders", 1));
    auto conf = make_conf({{"bootstrap.servers", {cluster->bootstrap(), "", false}},
                           {"group.id", {"orders", "", false}},
                           {"heartbeat.interval.ms", {"200", "", false}}});
    REQUIRE(conf);
    watch.attach(conf->get());
    rd_kafka_conf_set_events(conf->get(), RD_KAFKA_EVENT_REBALANCE);
    auto made = make_handle(RD_KAFKA_CONSUMER, std::move(conf).value());
    REQUIRE(made);
    handle = std::move(made).value();
    events.reset(rd_kafka_queue_get_consumer(handle.get()));
  }
  ~WatchedMember() {
    events.reset();
    // It does not leave the group, which nobody else is in.
    rd_kafka_destroy_flags(handle.release(), RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  }

  void subscribe() {
    const ListPtr topics(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_list_add(topics.get(), "orders", RD_KAFKA_PARTITION_UA);
    REQUIRE(rd_kafka_subscribe(handle.get(), topics.get()) == RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  bool is_assigned() {
    return eventually([&] {
      const EventPtr event{rd_kafka_queue_poll(events.get(), 0)};
      return event && rd_kafka_event_error(event.get()) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS;
    });
  }

  std::unique_ptr<MockCluster> cluster;
  JoinWatch watch;
  HandlePtr handle;
  QueuePtr events;
};

}  // namespace

TEST_CASE("a member is joining from its first JoinGroup until the group admits the member") {
  WatchedMember member;
  CHECK_FALSE(member.watch.joining());
  CHECK_FALSE(member.watch.under_way());
  member.subscribe();
  // The embedded coordinator waits three seconds for other members.
  CHECK(eventually([&] { return member.watch.joining() && member.watch.under_way(); }));
  REQUIRE(member.is_assigned());
  CHECK(eventually([&] { return !member.watch.joining() && !member.watch.under_way(); }));
  CHECK_FALSE(member.watch.overtaken());
}

TEST_CASE("no request is in flight between two attempts to join") {
  WatchedMember member;
  member.cluster->fail_next(MockCluster::Request::join_group, 1000);
  member.subscribe();
  CHECK(eventually([&] { return member.watch.joining() && !member.watch.under_way(); }));
  member.cluster->heal(MockCluster::Request::join_group);
  REQUIRE(member.is_assigned());
  CHECK(eventually([&] { return !member.watch.joining(); }));
}

TEST_CASE("the answer to a heartbeat may request a join, until another answer comes") {
  WatchedMember member;
  member.subscribe();
  REQUIRE(member.is_assigned());
  for (int heartbeat = 0; heartbeat < 2; ++heartbeat) {
    CHECK(eventually([&] { return !member.watch.under_way(); }));
    CHECK(eventually([&] { return member.watch.under_way(); }));
  }
  CHECK_FALSE(member.watch.joining());
}

TEST_CASE("a join is expected after a revocation, and after the assignment that follows") {
  JoinWatch watch;
  watch.assigned();
  CHECK_FALSE(watch.under_way());
  // Over and over: what is expected is expected for a second, which a busy machine may let pass.
  CHECK(eventually([&] {
    watch.revoked();
    return watch.under_way();
  }));
  const auto expected_no_more = [&] { return eventually([&] { return !watch.under_way(); }); };
  CHECK(eventually([&] {
    watch.revoked();
    if (!expected_no_more()) return false;
    watch.assigned();
    return watch.under_way();
  }));
  REQUIRE(expected_no_more());
  watch.assigned();
  CHECK_FALSE(watch.under_way());
}

TEST_CASE("a join is expected after a new subscription") {
  JoinWatch watch;
  CHECK(eventually([&] {
    watch.subscribed();
    return watch.under_way();
  }));
  CHECK_FALSE(watch.joining());
}

TEST_CASE("no join is expected while a revocation waits for its answer") {
  JoinWatch watch;
  CHECK(eventually([&] {
    watch.subscribed();
    if (!watch.under_way()) return false;  // the time in which a join is expected is over
    watch.revocation_begins(false);
    return true;
  }));
  CHECK_FALSE(watch.under_way());
}

TEST_CASE("a join before the assignment that follows a revocation has overtaken that assignment") {
  WatchedMember member;
  member.watch.revocation_begins(true);
  const bool in_time = GENERATE(true, false);
  if (in_time) member.watch.revocation_ends();
  member.subscribe();
  REQUIRE(eventually([&] { return member.watch.joining(); }));
  if (in_time)
    CHECK_FALSE(member.watch.overtaken());
  else
    CHECK(eventually([&] { return member.watch.overtaken(); }));
}
