// Which answer belongs to which commit, on an embedded cluster; the test moves the time.
#include "lane/member/commit_path.h"

#include "catch.h"
#include "eventually.h"
#include "kafka/group/commit_parts.h"
#include "mock_cluster.h"

using namespace laneway;
using Cluster = kafka::MockCluster;

namespace {

/// With a client that has found the group's coordinator: before that, the client keeps commits back and may
/// send a later one first.
struct Committer {
  Committer() {
    auto started = Cluster::start(1);
    REQUIRE(started);
    cluster = std::move(started).value();
    REQUIRE(cluster->create_topic("orders", 3));
    auto created = kafka::Consumer::create(
        {{"bootstrap.servers", {cluster->bootstrap(), "", false}}, {"group.id", {"orders", "", false}}}, {},
        [] {});
    REQUIRE(created);
    consumer = std::move(created).value();
    commits = lane::make_commit_path(*consumer, "orders", nullptr, [] {});
    commit(0);
    answer_comes();
    REQUIRE(commits->result(now));
  }
  ~Committer() {
    commits.reset();
    consumer.reset();
  }

  void commit(std::int64_t offset) {
    REQUIRE(commits->commit({{{"orders", 0}, offset, {}}}, kafka::request_bytes, now));
  }
  /// Takes the next answer from the client, and gives it to the commit path.
  void answer_comes() {
    REQUIRE(eventually([&] {
      const auto event = consumer->poll();
      if (!event || !std::holds_alternative<kafka::CommitResult>(*event)) return false;
      commits->on_answer(std::get<kafka::CommitResult>(*event));
      return true;
    }));
  }

  TimePoint now{};
  std::unique_ptr<Cluster> cluster;
  std::unique_ptr<kafka::Consumer> consumer;
  std::unique_ptr<lane::CommitPath> commits;
};

}  // namespace

TEST_CASE("the answer to an abandoned commit does not acknowledge the next commit") {
  Committer test;
  test.commit(5);
  SECTION("the commit is given up because no broker answers") {
    test.now += seconds(10);
    const auto given_up = test.commits->result(test.now);
    REQUIRE(given_up);
    CHECK(given_up->error == "the brokers did not answer");
  }
  SECTION("the commit is given up because a handover commits at once") {}

  test.commit(7);
  test.answer_comes();  // for the first commit
  CHECK_FALSE(test.commits->result(test.now));
  test.answer_comes();
  const auto result = test.commits->result(test.now);
  REQUIRE(result);
  CHECK(result->error.empty());
  CHECK(result->committed.size() == 1);
  CHECK_FALSE(test.commits->result(test.now));
}

TEST_CASE("the answer to an abandoned commit changes nothing while no other commit is in flight") {
  Committer test;
  test.commit(5);
  test.now += seconds(10);
  REQUIRE(test.commits->result(test.now));
  test.answer_comes();
  CHECK_FALSE(test.commits->result(test.now));
}

TEST_CASE("a commit in several requests has one result, after all answers") {
  Committer test;
  const std::vector<kafka::CommittedOffset> offsets{
      {{"orders", 0}, 5, {}}, {{"orders", 1}, 6, {}}, {{"orders", 2}, 7, {}}};
  REQUIRE(test.commits->commit(offsets, 1, test.now));
  for (int answers = 0; answers < 3; ++answers) {
    CHECK_FALSE(test.commits->result(test.now));
    test.answer_comes();
  }
  const auto result = test.commits->result(test.now);
  REQUIRE(result);
  CHECK(result->error.empty());
  CHECK(result->committed.size() == 3);
}

TEST_CASE("in a commit of several requests, accepted ones count, also if another is refused or late") {
  Committer test;
  const bool refused = GENERATE(true, false);
  if (refused)
    test.cluster->fail_next(Cluster::Request::offset_commit, 1, Cluster::Failure::commit_too_large);
  const std::vector<kafka::CommittedOffset> offsets{{{"orders", 0}, 5, {}}, {{"orders", 1}, 6, {}}};
  REQUIRE(test.commits->commit(offsets, 1, test.now));
  test.answer_comes();
  if (refused)
    test.answer_comes();
  else
    test.now += seconds(10);
  const auto result = test.commits->result(test.now);
  REQUIRE(result);
  CHECK_FALSE(result->error.empty());
  CHECK(result->committed.size() == 1);
  CHECK(result->perhaps_too_large == refused);
}
