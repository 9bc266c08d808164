// Stories of partitions that come and go with overlapping events.
#include "lane/member/rebalance_machine.h"

#include "lane/ledger/completion_map.h"
#include "lane/simulated_lanes.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

using Kind = RebalanceMachine::Kind;
constexpr RebalanceMachine::Needs exact{.offset = true, .topic_id = true};

struct Story {
  explicit Story(bool by_cooperative, RebalanceMachine::Needs needs = {})
      : cooperative(by_cooperative), machine(lanes, seconds(20), by_cooperative, needs) {
    lanes.eager = !by_cooperative;
  }

  static Partitions some(std::initializer_list<int> numbers) {
    Partitions result;
    for (const int number : numbers) result.push_back({"orders", number});
    return result;
  }
  static std::set<kafka::TopicPartition> set(std::initializer_list<int> numbers) {
    const auto partitions = some(numbers);
    return {partitions.begin(), partitions.end()};
  }
  void assign(std::initializer_list<int> numbers) {
    machine.arrived(Kind::assigned, some(numbers), lanes.now);
    machine.committed_offsets(lanes.answer(), lanes.now);
  }
  void revoke(std::initializer_list<int> numbers, bool lost = false) {
    if (lost) lanes.may_be_lost = set(numbers);
    machine.arrived(lost ? Kind::lost : Kind::revoked, some(numbers), lanes.now);
  }
  void pass(Duration time) {
    lanes.now += time;
    machine.advance(lanes.now);
  }
  /// Waits until all draining lanes have ended.
  void finish() {
    lanes.finish_work();
    pass({});
    lanes.answer_commit();
    pass({});
  }

  const bool cooperative;
  SimulatedLanes lanes;
  RebalanceMachine machine;
};

}  // namespace

TEST_CASE("a revocation during the drain of a stop waits for the lanes that are already ending") {
  for (const bool cooperative : {false, true}) {
    Story story(cooperative);
    story.assign({0, 1});
    const auto before = story.lanes.answers;
    story.machine.stop(story.lanes.now);
    if (cooperative)
      story.revoke({1});
    else
      story.revoke({0, 1});
    story.pass(milliseconds(10));
    CHECK(story.lanes.answers == before);
    story.lanes.finish_work();
    story.pass(milliseconds(10));
    CHECK(story.lanes.committing);
    CHECK(story.lanes.answers == before);  // the commit has no answer yet
    story.lanes.answer_commit();
    story.pass(milliseconds(10));
    CHECK(story.lanes.answers == before + 1);
    CHECK(story.machine.at_rest());
  }
}

TEST_CASE("an assignment that comes before a revocation is answered waits, and begins complete") {
  for (const bool cooperative : {false, true}) {
    Story story(cooperative);
    story.assign({0, 1});
    const auto before = story.lanes.answers;
    story.revoke({0, 1});
    story.machine.arrived(Kind::assigned, Story::some({0, 1, 2}), story.lanes.now);
    CHECK(story.lanes.asked.size() == 2);  // for the first assignment: the old lanes' commit comes first
    CHECK(story.lanes.answers == before);
    story.finish();
    CHECK(story.lanes.answers == before + 1);
    CHECK(story.lanes.asked.size() == 3);
    story.machine.committed_offsets(story.lanes.answer(), story.lanes.now);
    CHECK(story.lanes.alive() == Story::set({0, 1, 2}));
    CHECK(story.lanes.client == Story::set({0, 1, 2}));
    CHECK(story.machine.at_rest());
  }
}

TEST_CASE("lanes whose partitions moved to others during their drain end at once, uncommitted") {
  for (const bool cooperative : {false, true}) {
    Story story(cooperative);
    story.assign({0, 1});
    story.revoke({0, 1});
    story.lanes.may_be_lost = Story::set({1});
    story.machine.arrived(Kind::assigned, Story::some({0}), story.lanes.now);
    CHECK(story.lanes.alive() == Story::set({0}));
    story.lanes.may_be_lost.clear();
    story.finish();
    story.machine.committed_offsets(story.lanes.answer(), story.lanes.now);
    CHECK(story.lanes.client == Story::set({0}));
    CHECK(story.machine.at_rest());
  }
}

TEST_CASE("an eager assignment without a revocation first ends the old lanes") {
  Story story(false);
  story.assign({0});
  story.machine.arrived(Kind::assigned, Story::some({0, 1}), story.lanes.now);
  CHECK(story.lanes.lanes.at({"orders", 0}).leaving_until);
  story.finish();
  story.machine.committed_offsets(story.lanes.answer(), story.lanes.now);
  CHECK(story.lanes.alive() == Story::set({0, 1}));
}

TEST_CASE("a cooperative revocation takes only its own partitions from a waiting assignment") {
  Story story(true);
  story.machine.arrived(Kind::assigned, Story::some({0, 1}), story.lanes.now);
  const auto first_question = story.lanes.answer();
  story.revoke({1});
  CHECK(story.lanes.answers == 1);
  story.machine.committed_offsets(first_question,
                                  story.lanes.now);  // too late: the question was about more partitions
  CHECK(story.lanes.alive().empty());
  story.machine.committed_offsets(story.lanes.answer(), story.lanes.now);
  CHECK(story.lanes.alive() == Story::set({0}));
  CHECK(story.lanes.client == Story::set({0}));
}

TEST_CASE("a revocation of partitions that were never assigned returns none of them to the client") {
  Story story(true);
  story.assign({0});
  story.revoke({0, 7});
  story.finish();
  CHECK(story.lanes.client.empty());
  CHECK(story.machine.at_rest());
}

TEST_CASE("lost partitions end at once, also during a drain, and are not committed") {
  for (const bool cooperative : {false, true}) {
    Story story(cooperative);
    story.assign({0, 1});
    story.machine.stop(story.lanes.now);
    story.revoke({0, 1}, true);
    CHECK(story.lanes.alive().empty());
    CHECK_FALSE(story.lanes.committing);
    CHECK(story.lanes.client.empty());
    CHECK(story.machine.at_rest());
  }
}

TEST_CASE("a stop answers an assignment that waits for offsets, so that the client can leave the group") {
  Story story(false);
  story.machine.arrived(Kind::assigned, Story::some({0}), story.lanes.now);
  CHECK(story.lanes.answers == 0);
  story.machine.stop(story.lanes.now);
  CHECK(story.lanes.answers == 1);
  story.machine.committed_offsets(story.lanes.answer(), story.lanes.now);
  CHECK(story.lanes.alive().empty());
  story.machine.arrived(Kind::assigned, Story::some({0, 1}), story.lanes.now);  // no lane begins any more
  CHECK(story.lanes.answers == 2);
  CHECK(story.machine.at_rest());
}

TEST_CASE("a stop after a loss begins no lane of the assignment that follows") {
  for (const bool cooperative : {false, true}) {
    Story story(cooperative);
    story.assign({0, 1});
    story.revoke({0, 1}, true);
    story.lanes.may_be_lost.clear();
    story.machine.stop(story.lanes.now);
    CHECK(story.machine.at_rest());
    const auto before = story.lanes.answers;
    story.machine.arrived(Kind::assigned, Story::some({1}), story.lanes.now);
    CHECK(story.lanes.answers == before + 1);  // the group waits for the answer
    CHECK(story.lanes.alive().empty());
    CHECK(story.lanes.client.empty());
    CHECK(story.machine.at_rest());
  }
}

TEST_CASE("lanes that do not end and a commit without an answer delay a revocation up to its deadlines") {
  Story story(false);
  story.assign({0});
  story.revoke({0});
  story.pass(seconds(20));
  CHECK(story.lanes.lanes.at({"orders", 0}).cancelled);
  story.pass(seconds(1));
  CHECK(story.lanes.committing);
  CHECK_FALSE(story.lanes.lanes.empty());
  story.pass(seconds(2));
  CHECK(story.lanes.lanes.empty());
  CHECK(story.machine.at_rest());
}

TEST_CASE("a commit that the coordinator cannot take yet is sent again before the lanes end") {
  Story story(true);
  story.assign({0});
  const auto before = story.lanes.answers;
  story.revoke({0});
  story.lanes.finish_work();
  story.pass(milliseconds(10));
  REQUIRE(story.lanes.committing);
  story.lanes.refuse_commit();
  story.pass(milliseconds(10));
  CHECK_FALSE(story.lanes.committing);  // not at once
  CHECK(story.lanes.answers == before);
  story.pass(milliseconds(100));
  REQUIRE(story.lanes.committing);

  SECTION("the commit is accepted") {
    story.lanes.answer_commit();
    story.pass(milliseconds(10));
    CHECK(story.lanes.lanes.empty());
    CHECK(story.lanes.answers == before + 1);
  }
  SECTION("the deadline passes") {
    story.lanes.refuse_commit();
    story.pass(seconds(2));
    CHECK(story.lanes.lanes.empty());
    CHECK(story.lanes.answers == before + 1);
  }
}

TEST_CASE("a difference between the client's assignment and the lanes is corrected") {
  for (const bool cooperative : {false, true}) {
    Story story(cooperative);
    story.assign({0, 1});
    CHECK(story.machine.compare(Story::some({0, 1}), story.lanes.now));
    story.lanes.client = Story::set({1, 2});  // no lane reads 0, and 2 has no lane
    CHECK_FALSE(story.machine.compare(Story::some({1, 2}), story.lanes.now));
    CHECK(story.lanes.lanes.at({"orders", 0}).leaving_until);
    story.finish();
    story.machine.committed_offsets(story.lanes.answer(), story.lanes.now);
    CHECK(story.lanes.alive() == Story::set({0, 1}));
    CHECK(story.lanes.client == Story::set({0, 1}));
    CHECK(story.machine.at_rest());
  }
}

TEST_CASE("a partition without a lane gets a lane, whether or not the client has the partition") {
  for (const bool cooperative : {false, true})
    for (const bool in_client : {false, true}) {
      Story story(cooperative);
      story.machine.arrived(Kind::assigned, Story::some({0, 1}), story.lanes.now);
      auto wrong = story.lanes.answer();
      wrong.offsets.back().partition.partition = 7;  // instead of 1
      story.machine.committed_offsets(wrong, story.lanes.now);
      REQUIRE(story.lanes.alive() == Story::set({0, 7}));
      if (in_client) story.lanes.client.insert({"orders", 1});
      story.lanes.may_be_lost = Story::set({7});
      const Partitions client(story.lanes.client.begin(), story.lanes.client.end());
      CHECK_FALSE(story.machine.compare(client, story.lanes.now));
      story.finish();
      story.machine.committed_offsets(story.lanes.answer(), story.lanes.now);
      CHECK(story.lanes.alive() == Story::set({0, 1}));
      CHECK(story.lanes.client == Story::set({0, 1}));
      CHECK(story.machine.at_rest());
    }
}

TEST_CASE("with exact commits, a lane does not begin at a guessed offset") {
  for (const auto needs : {RebalanceMachine::Needs{}, exact}) {
    Story story(false, needs);
    story.machine.arrived(Kind::assigned, Story::some({0}), story.lanes.now);
    auto failed = story.lanes.answer();
    failed.error = "broken";
    failed.offsets.clear();
    story.machine.committed_offsets(failed, story.lanes.now);
    CHECK(story.lanes.lanes.empty() == needs.offset);
    if (!needs.offset) continue;
    story.pass(seconds(1));
    story.machine.committed_offsets(story.lanes.answer(), story.lanes.now);  // to the repeated question
    CHECK(story.lanes.alive() == Story::set({0}));
  }
}

TEST_CASE("if partitions can be added later, a partition with an unreadable offset waits alone") {
  Story story(true, GENERATE(RebalanceMachine::Needs{}, exact));
  story.machine.arrived(Kind::assigned, Story::some({0, 1, 2}), story.lanes.now);
  auto partly = story.lanes.answer();
  partly.offsets.erase(partly.offsets.begin());
  partly.error = "broken";
  story.machine.committed_offsets(partly, story.lanes.now);
  CHECK(story.lanes.alive() == Story::set({1, 2}));
  CHECK(story.lanes.answers == 1);
  CHECK_FALSE(story.machine.rebalancing());  // the others are served as if nothing waited
  const auto asked_before = story.lanes.asked_request;
  story.pass(milliseconds(999));
  CHECK(story.lanes.asked_request == asked_before);  // the brokers are not asked all the time
  story.pass(milliseconds(1));
  CHECK(story.lanes.asked == Story::some({0}));
  SECTION("the offset can be read later") {
    story.machine.committed_offsets(story.lanes.answer(), story.lanes.now);
    CHECK(story.lanes.alive() == Story::set({0, 1, 2}));
  }
  SECTION("a revocation first waits for its lanes") {
    story.revoke({1});
    CHECK(story.machine.rebalancing());
    const auto question = story.lanes.asked_request;
    story.machine.committed_offsets(story.lanes.answer(), story.lanes.now);
    story.pass(seconds(10));
    CHECK(story.lanes.answers == 1);
    CHECK(story.lanes.asked_request == question);
    story.finish();
    CHECK(story.lanes.answers == 2);
    story.machine.committed_offsets(story.lanes.answer(), story.lanes.now);
    CHECK(story.lanes.alive() == Story::set({0, 2}));
  }
  SECTION("the partition is revoked") {
    story.revoke({0});
    CHECK(story.lanes.answers == 2);
    CHECK(story.lanes.alive() == Story::set({1, 2}));
  }
  SECTION("a stop does not answer again") {
    story.machine.stop(story.lanes.now);
    CHECK(story.lanes.answers == 1);
    story.finish();
    story.lanes.client.clear();  // when it leaves
  }
  CHECK(story.machine.at_rest());
  CHECK(story.lanes.client == story.lanes.alive());
}

TEST_CASE("under the eager protocol, an assignment begins as a whole or waits") {
  Story story(false, exact);
  story.machine.arrived(Kind::assigned, Story::some({0, 1}), story.lanes.now);
  auto partly = story.lanes.answer();
  partly.offsets.pop_back();
  story.machine.committed_offsets(partly, story.lanes.now);
  story.pass(seconds(1));
  CHECK(story.machine.rebalancing());
  CHECK(story.lanes.answers == 0);
  CHECK(story.lanes.asked == Story::some({0, 1}));
}

TEST_CASE("a partition with an unreadable offset costs the others neither their offsets nor their maps") {
  Story story(false);
  story.machine.arrived(Kind::assigned, Story::some({0, 1}), story.lanes.now);
  auto partly = story.lanes.answer();
  partly.offsets.pop_back();
  partly.error = "broken";
  story.machine.committed_offsets(partly, story.lanes.now);
  CHECK(story.lanes.began == std::map<kafka::TopicPartition, std::int64_t>{
                                 {{"orders", 0}, 0}, {{"orders", 1}, kafka::unread_offset}});
}

TEST_CASE("with exact commits, a lane does not begin if its map cannot be compared with its topic") {
  const std::string map = encode(CompletionMap{0, {{1, 4}}});
  const RebalanceMachine::Needs begins_at_end{.offset = true};
  const auto [metadata, needs, waits] = GENERATE_REF(table<std::string, RebalanceMachine::Needs, bool>(
      {{"topic=7kQ0m2XwTzu7v5n0mQmR3A " + map, exact, true},
       {"topic=7kQ0m2XwTzu7v5n0mQmR3A " + map, begins_at_end, false},
       {map, exact, false},
       {"topic=7kQ0m2XwTzu7v5n0mQmR3A ", exact, false}}));
  Story story(true, needs);
  story.machine.arrived(Kind::assigned, Story::some({0, 1}), story.lanes.now);
  auto answer = story.lanes.answer();
  answer.offsets.front().metadata = metadata;
  story.machine.committed_offsets(answer, story.lanes.now);
  CHECK(story.lanes.alive() == (waits ? Story::set({1}) : Story::set({0, 1})));
  if (!waits) return;
  story.pass(seconds(1));
  answer = story.lanes.answer();
  answer.offsets.front().metadata = metadata;
  answer.offsets.front().topic_id = "7kQ0m2XwTzu7v5n0mQmR3A";
  story.machine.committed_offsets(answer, story.lanes.now);
  CHECK(story.lanes.alive() == Story::set({0, 1}));
}
