// Who may work for a group: claims at an embedded cluster.
#include "kafka/admin/group_claim.h"

#include "catch.h"
#include "eventually.h"
#include "kafka/admin/directory.h"
#include "mock_cluster.h"

using namespace laneway;
using namespace laneway::kafka;

namespace {

using Taken = GroupClaim::Taken;

const std::vector<TopicPartition> letters{{"orders-dlt", 0}, {"orders-dlt", 1}};

struct Claims {
  Claims() {
    auto started = MockCluster::start(1);
    REQUIRE(started);
    cluster = std::move(started).value();
    REQUIRE(cluster->create_topic("orders-dlt", 2));
  }
  ClientSettings settings() const {
    return {{"bootstrap.servers", {cluster->bootstrap(), "", false}}, {"group.id", {"redrive", "", false}}};
  }
  std::unique_ptr<GroupClaim> opened() const {
    auto claim = GroupClaim::open(settings(), letters);
    REQUIRE(claim);
    return std::move(claim).value();
  }
  static Taken take(GroupClaim& claim) {
    const auto taken = claim.take(Deadline::in(patience));
    REQUIRE(taken);
    return *taken;
  }
  std::vector<CommittedOffset> committed() const {
    const auto directory = Directory::open(settings());
    REQUIRE(directory);
    const auto committed = (*directory)->committed(letters, patience);
    REQUIRE(committed);
    return *committed;
  }

  std::unique_ptr<MockCluster> cluster;
};

}  // namespace

TEST_CASE_METHOD(Claims, "a single claim gets all partitions, and may commit") {
  const auto claim = opened();
  const auto at_once = claim->take(Deadline::in(Duration::zero()));
  REQUIRE(at_once);
  CHECK(*at_once == Taken::not_yet);
  CHECK_FALSE(claim->held());

  REQUIRE(take(*claim) == Taken::yes);
  CHECK(claim->held());
  REQUIRE(claim->commit({letters[1], 7, "read"}, Deadline::in(patience)));
  const auto offsets = committed();
  REQUIRE(offsets.size() == 2);
  CHECK(offsets[0].offset == no_offset);
  CHECK(offsets[1].offset == 7);
  CHECK(offsets[1].metadata == "read");
}

TEST_CASE_METHOD(
    Claims, "a claim loses its partitions to a later claim, which gets them once the earlier one is closed") {
  auto first = opened();
  REQUIRE(take(*first) == Taken::yes);
  const auto second = opened();
  REQUIRE(eventually([&] { return !first->held(); }));
  const auto meanwhile = second->take(Deadline::in(Duration::zero()));
  REQUIRE(meanwhile);
  CHECK(*meanwhile == Taken::not_yet);
  CHECK_FALSE(first->held());
  first.reset();
  CHECK(take(*second) == Taken::yes);
  CHECK(second->held());
}

TEST_CASE_METHOD(Claims, "a claim whose commit is refused names the partition") {
  const auto claim = opened();
  REQUIRE(take(*claim) == Taken::yes);
  cluster->fail_next(MockCluster::Request::offset_commit, 1, MockCluster::Failure::map_too_long);
  const auto refused = claim->commit({letters[0], 1, {}}, Deadline::in(patience));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::unavailable);
  CHECK_THAT(refused.error().message, Catch::StartsWith("committing the offset of orders-dlt:0: "));
}

TEST_CASE("a claim with wrong settings is not opened") {
  const auto claim = GroupClaim::open({{"no.such.key", {"1", "f.yaml:2:3", false}}}, letters);
  REQUIRE_FALSE(claim);
  CHECK(claim.error().kind == ErrorKind::configuration);
  CHECK_THAT(claim.error().message, Catch::StartsWith("f.yaml:2:3: kafka.no.such.key: "));
}
