// What a directory asks of brokers.
#include "kafka/admin/directory.h"

#include "catch.h"
#include "eventually.h"
#include "kafka/testing/embedded_cluster.h"

using namespace laneway;
using namespace laneway::kafka;

TEST_CASE("whether a topic may be read is asked of a partition that has a leader") {
  constexpr std::int32_t no_leader = -1;
  const auto cluster = EmbeddedCluster::start(1);
  REQUIRE(cluster);
  REQUIRE((*cluster)->create_topic("orders", 2));
  REQUIRE((*cluster)->set_leader("orders", 0, no_leader));
  REQUIRE((*cluster)->delay_next(1, EmbeddedCluster::Request::list_offsets, {milliseconds(1)},
                                 EmbeddedCluster::Failure::denied));
  const auto directory = Directory::open(
      {{"bootstrap.servers", {(*cluster)->bootstrap(), "", false}}, {"group.id", {"orders", "", false}}});
  REQUIRE(directory);
  const auto topics = (*directory)->topics({"orders"}, patience);
  REQUIRE(topics);
  const auto readable = (*directory)->readable(*topics, patience);
  REQUIRE_FALSE(readable);
  CHECK(readable.error().message == "topic orders: access denied");
}
