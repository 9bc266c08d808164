// The rules of the loop, on a group that the test plays (fake_group.h).
#include "lane/member/consumer_loop.h"

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "catch.h"
#include "lane/member/fake_group.h"
#include "lane/support.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

using Calls = FakeGroup::Calls;

const kafka::TopicPartition first{"orders", 3};
const kafka::TopicPartition second{"orders", 4};

/// Set the context and the settings, then start(). Commits are not due by themselves.
class TestMember {
 public:
  TestMember() {
    context.stages.resize(1);
    context.stages.front().settings.workers = 4;
    context.stages.front().settings.queue = 16;
    context.lanes.drain = 2 * patience;
    context.memory.lane_bytes = 1 << 20;
    context.memory.fetch.queued_min_messages = 1000;
    context.retry.max_crashes = 0;
    context.stages.front().downstream = &no_breaker;
    context.stages.front().handler = &handler;
    settings.topics.names = {"orders"};
    settings.commit = {std::chrono::hours(1), 1000000};
    settings.still_draining = std::make_shared<StillDraining>();
    settings.member_client.make_consumer = [this](const auto&, const auto&, std::function<void()> on_event)
        -> Result<std::unique_ptr<kafka::Consumer>> { return group.consumer(std::move(on_event)); };
    settings.member_client.open_source = [this](kafka::Consumer&, const kafka::TopicPartition& partition,
                                                const std::function<void()>&) {
      return std::make_unique<SimulatedSource>(partitions[partition]);
    };
    for (const auto& partition : {first, second}) partitions[partition].add_run(0, 2);
  }
  ~TestMember() {
    handler.open();
    if (!loop) return;
    group.set_join_under_way(false);
    group.acknowledges_all();
    loop->cut_short();
    CHECK(wait_for([&] { return loop->ended(); }));
  }
  TestMember(const TestMember&) = delete;

  void start() {
    loop = std::make_unique<ConsumerLoop>(context, settings, [] {});
    REQUIRE(loop->start());
  }
  /// Started, with lanes whose records are all running.
  void start_with(const Partitions& assigned, std::size_t at_work = 2) {
    start();
    assign(assigned);
    REQUIRE(wait_for([&] { return handler.started().size() == at_work; }));
  }
  void assign(const Partitions& assigned) {
    const auto asked = group.calls("ask").size();
    group.assigns(assigned);
    REQUIRE(wait_for([&] { return group.calls("ask").size() > asked; }));
    std::vector<kafka::CommittedOffset> from;
    for (const auto& partition : assigned) from.push_back({partition, 0, {}});
    group.answers_committed(from);
    REQUIRE(wait_for([&] { return loop->lanes().size() >= assigned.size(); }));
  }
  template <class Condition>
  static bool wait_for(Condition&& condition) {
    const auto deadline = Deadline::in(patience);
    while (!condition()) {
      if (deadline.passed()) return false;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return true;
  }
  bool wait_for_call(const std::string& call) {
    return wait_for([&] { return !group.calls(call).empty(); });
  }
  bool wait_for_state(State state) {
    return wait_for([&] {
      const auto lanes = loop->lanes();
      return !lanes.empty() && lanes.front()->stats().state.get() == state;
    });
  }
  /// Finishes a running record; `done`: the total of finished records then. The ledger has it after a turn.
  void finish(std::int64_t offset, std::uint64_t done) {
    handler.answer(offset);
    REQUIRE(wait_for([&] { return outcomes() >= done; }));
  }
  /// Waits until the loop has made a whole turn, in which it could have done what it should not do.
  void pass_turn() {
    for (int i = 0; i < 2; ++i) {
      const auto called = std::make_shared<std::atomic<bool>>(false);
      REQUIRE(loop->post([called](Lane&, TimePoint) { called->store(true); }));
      REQUIRE(wait_for([&] { return called->load(); }));
    }
  }
  /// As pass_turn(), if no lane is left that a command could be called with.
  void pass_turn_without_lanes() {
    const auto before = loop->stats().last_turn_ns.get();
    REQUIRE(wait_for([&] {
      loop->suspensions_changed();
      return loop->stats().last_turn_ns.get() > before;
    }));
    const auto since = loop->stats().last_turn_ns.get();
    REQUIRE(wait_for([&] {
      loop->suspensions_changed();
      return loop->stats().last_turn_ns.get() > since;
    }));
  }

  Downstream no_breaker{"none", {.breaker = {.failures = 0}}};
  LaneContext context;
  LoopSettings settings;
  FakeGroup group;
  std::map<kafka::TopicPartition, Partition> partitions;
  HeldHandler handler;
  std::unique_ptr<ConsumerLoop> loop;

 private:
  std::uint64_t outcomes() const {
    std::uint64_t done = 0;
    for (const auto& lane : loop->lanes())
      done += lane->stats().outcomes[static_cast<std::size_t>(handler::OutcomeLabel::success)].get();
    return done;
  }
};

}  // namespace

TEST_CASE("a member that does not run its commands accepts a bounded number of them") {
  const LaneContext context{};
  ConsumerLoop loop(context, LoopSettings{}, [] {});
  const auto kept = std::make_shared<int>(0);
  for (int i = 0; i < 64; ++i) REQUIRE(loop.post([kept](Lane&, TimePoint) {}));
  CHECK_FALSE(loop.post([kept](Lane&, TimePoint) {}));
  CHECK(kept.use_count() == 65);
}

TEST_CASE("assigned partitions become lanes when their committed offsets are known, and begin at these") {
  TestMember member;
  member.start();
  member.group.assigns({first, second});
  REQUIRE(member.wait_for_call("ask"));
  member.pass_turn_without_lanes();
  CHECK(member.group.calls() == Calls{"subscribe orders", "ask orders:3 orders:4"});
  CHECK(member.loop->lanes().empty());
  CHECK(member.handler.started().empty());

  member.partitions[first].go_to(1);
  member.group.answers_committed({{first, 1, {}}, {second, kafka::no_offset, {}}});
  REQUIRE(member.wait_for([&] { return member.handler.started().size() == 3; }));
  CHECK(TestLane::sorted(member.handler.started()) == Offsets{0, 1, 1});
  CHECK(member.group.calls("assign") == Calls{"assign orders:3:1 orders:4:-1"});
  CHECK(member.loop->lanes().size() == 2);
  CHECK(member.loop->stats().assigned.get() == 1);
}

TEST_CASE("revoked partitions drain, commit, and are given back, in that order") {
  const bool cooperative = GENERATE(true, false);
  TestMember member;
  member.group.set_cooperative(cooperative);
  member.start_with({first});
  member.group.revokes({first});
  REQUIRE(member.wait_for_state(State::draining));
  member.pass_turn();
  member.finish(0, 1);
  member.pass_turn();
  CHECK(member.group.calls("commit").empty());
  CHECK(member.group.calls("unassign").empty());

  member.handler.answer(1);
  REQUIRE(member.wait_for_call("commit"));
  CHECK(member.group.calls("commit") == Calls{"commit orders:3:2"});
  member.pass_turn();
  CHECK(member.group.calls("unassign").empty());

  member.group.acknowledges_commit();
  REQUIRE(member.wait_for_call("unassign"));
  CHECK(member.group.calls().back() == (cooperative ? "unassign orders:3" : "unassign all"));
  CHECK(member.wait_for([&] { return member.loop->lanes().empty(); }));
  CHECK(member.loop->stats().revoked.get() == 1);
  CHECK(member.loop->stats().commits_acknowledged.get() == 1);
}

TEST_CASE("while a lane drains, this lane and the others run records and commit") {
  TestMember member;
  member.settings.commit = {milliseconds(1), 1};
  member.group.acknowledges_all();
  member.start_with({first, second}, 4);
  member.group.revokes({first});
  REQUIRE(member.wait_for_state(State::draining));
  member.handler.answer(0);
  member.handler.answer(0);
  const auto all_committed = [&] {
    const auto lanes = member.loop->lanes();
    return std::all_of(lanes.begin(), lanes.end(),
                       [](const auto& lane) { return lane->stats().committed.offset.get() == 1; });
  };
  CHECK(member.wait_for(all_committed));
  CHECK(member.loop->lanes().size() == 2);
}

TEST_CASE("a drain begins with a commit of the finished records") {
  TestMember member;
  member.start_with({first});
  member.finish(0, 1);
  member.pass_turn();
  CHECK(member.group.calls("commit").empty());
  member.group.revokes({first});
  REQUIRE(member.wait_for_call("commit"));
  CHECK(member.group.calls("commit") == Calls{"commit orders:3:1"});
  CHECK(member.wait_for_state(State::draining));
}

TEST_CASE("the offsets of a refused commit are committed again") {
  TestMember member;
  member.settings.commit = {milliseconds(1), 1};
  member.start_with({first});
  member.handler.answer(0);
  REQUIRE(member.wait_for_call("commit orders:3:1"));
  member.group.refuses_commit();
  REQUIRE(member.wait_for([&] { return member.group.calls("commit").size() == 2; }));
  CHECK(member.group.calls("commit") == Calls{"commit orders:3:1", "commit orders:3:1"});
  CHECK(member.loop->stats().commits_failed.get() == 1);
  CHECK(member.loop->lanes().front()->stats().committed.offset.get() == 0);

  member.group.acknowledges_commit();
  CHECK(member.wait_for([&] { return member.loop->stats().commits_acknowledged.get() == 1; }));
  CHECK(member.loop->lanes().front()->stats().committed.offset.get() == 1);
}

TEST_CASE("partitions are given back after a refused commit, unless the reason is temporary") {
  TestMember member;
  member.start_with({first});
  member.handler.answer(0);
  member.finish(1, 2);
  member.group.revokes({first});
  REQUIRE(member.wait_for_call("commit"));
  member.group.refuses_commit(true);
  REQUIRE(member.wait_for([&] { return member.group.calls("commit").size() == 2; }));
  CHECK(member.group.calls("unassign").empty());
  member.group.refuses_commit();
  REQUIRE(member.wait_for_call("unassign"));
  CHECK(member.group.calls("commit") == Calls{"commit orders:3:2", "commit orders:3:2"});
  CHECK(member.loop->stats().commits_failed.get() == 2);
}

TEST_CASE("a commit that is due during a join waits until the join has ended") {
  TestMember member;
  member.settings.commit = {milliseconds(1), 1};
  member.start_with({first});
  member.group.set_join_under_way(true);
  member.finish(0, 1);
  member.pass_turn();
  CHECK(member.group.calls("commit").empty());
  member.group.set_join_under_way(false);
  CHECK(member.wait_for_call("commit orders:3:1"));
}

TEST_CASE("lost partitions end at once and commit nothing") {
  TestMember member;
  member.settings.commit = {milliseconds(1), 1};
  member.start_with({first, second}, 4);
  member.group.set_join_under_way(true);  // so that finished records are not committed before
  member.handler.answer(0);
  member.finish(0, 2);
  member.group.loses({first, second});
  REQUIRE(member.wait_for_call("unassign"));
  CHECK(member.wait_for([&] { return member.loop->lanes().empty(); }));
  member.group.set_join_under_way(false);
  member.handler.open();
  member.pass_turn_without_lanes();
  CHECK(member.group.calls("commit").empty());
  CHECK(member.loop->stats().lost.get() == 1);
  CHECK(member.loop->stats().revoked.get() == 0);
  CHECK_FALSE(member.loop->stats().has_assignment.get());  // the member is not ready
  member.group.assigns({first});
  CHECK(member.wait_for([&] { return member.loop->stats().has_assignment.get(); }));
}

TEST_CASE("a member that is admitted without partitions has an empty assignment") {
  TestMember member;
  member.start();
  const auto assigned = [&] { return member.loop->stats().has_assignment.get(); };
  REQUIRE(member.wait_for([&] { return member.group.epoch_requests() == 1; }));
  CHECK_FALSE(assigned());
  member.group.admits_at(5);
  CHECK(member.wait_for(assigned));
  CHECK(member.group.calls() == Calls{"subscribe orders"});
}

TEST_CASE("a member that has lost its partitions has an assignment again when the group admits it again") {
  TestMember member;
  member.group.admits_at(5);
  member.start_with({first});
  const auto assigned = [&] { return member.loop->stats().has_assignment.get(); };
  member.handler.answer_done({0, 1});
  member.group.loses({first});
  REQUIRE(member.wait_for([&] { return !assigned(); }));
  // The client has not joined again yet: the epoch is still that of the loss.
  const auto asked = member.group.epoch_requests();
  REQUIRE(member.wait_for([&] { return member.group.epoch_requests() > asked + 1; }));
  CHECK_FALSE(assigned());
  member.group.admits_at(7);
  CHECK(member.wait_for(assigned));
}

TEST_CASE("a stop drains, commits, and then leaves the group") {
  TestMember member;
  member.start_with({first});
  member.loop->stop();
  REQUIRE(member.wait_for_state(State::draining));
  member.pass_turn();
  CHECK(member.group.calls("leave").empty());
  member.handler.answer_done({0, 1});
  REQUIRE(member.wait_for_call("commit"));
  member.pass_turn();
  CHECK(member.group.calls("leave").empty());
  member.group.acknowledges_commit();
  REQUIRE(member.loop->join(Deadline::in(patience)));
  CHECK(member.group.calls() == Calls{"subscribe orders", "ask orders:3", "assign orders:3:0",
                                      "commit orders:3:2", "leave", "unassign orders:3"});
  CHECK(member.loop->abandoned() == 0);
  CHECK_FALSE(member.loop->fatal());
}

TEST_CASE("a stop that is cut short abandons running records, and reports their number") {
  TestMember member;
  member.start_with({first});
  member.handler.ignore_stops();
  member.loop->stop();
  REQUIRE(member.wait_for_state(State::draining));
  member.loop->cut_short();
  REQUIRE(member.wait_for([&] { return member.loop->ended(); }));
  CHECK(member.loop->abandoned() == 2);
  CHECK(member.group.calls("commit").empty());
  CHECK(member.group.calls("leave").size() == 1);
}

TEST_CASE("a drained member leaves when the other members have drained, too") {
  TestMember member;
  member.start();
  member.settings.still_draining->fetch_add(1);
  member.loop->stop();
  member.pass_turn_without_lanes();
  member.pass_turn_without_lanes();
  CHECK(member.group.calls("leave").empty());
  member.settings.still_draining->fetch_sub(1);
  CHECK(member.loop->join(Deadline::in(patience)));
  CHECK(member.group.calls("leave").size() == 1);
}

TEST_CASE("a member does not leave while it joins the group") {
  TestMember member;
  member.context.lanes.drain = 2 * patience;
  member.start();
  member.group.set_join_under_way(true);
  member.loop->stop();
  member.pass_turn_without_lanes();
  member.pass_turn_without_lanes();
  CHECK(member.group.calls("leave").empty());
  member.group.set_join_under_way(false);
  CHECK(member.loop->join(Deadline::in(patience)));
}

TEST_CASE("a command is called with each lane, and refused when the loop has ended") {
  TestMember member;
  member.start_with({first, second}, 4);
  Mutex mutex;
  Partitions called;
  REQUIRE(member.loop->post([&](Lane& lane, TimePoint) {
    MutexLock lock(mutex);
    called.push_back(lane.partition());
  }));
  member.pass_turn();
  {
    MutexLock lock(mutex);
    CHECK(called == Partitions{first, second});
  }
  member.handler.open();
  member.group.acknowledges_all();
  member.loop->cut_short();
  REQUIRE(member.wait_for([&] { return member.loop->ended(); }));
  CHECK_FALSE(member.loop->post([](Lane&, TimePoint) {}));
}

TEST_CASE("a fatal error of the client ends the loop, without further commits or a departure") {
  TestMember member;
  member.start_with({first});
  member.finish(0, 1);
  member.group.set_fatal({ErrorKind::fatal, "the member was fenced", ""});
  member.group.reports({true, false, false, "fenced"});
  REQUIRE(member.wait_for_state(State::draining));
  member.pass_turn();
  member.handler.open();
  REQUIRE(member.wait_for([&] { return member.loop->ended(); }));
  REQUIRE(member.loop->fatal());
  CHECK(member.loop->fatal()->message == "the member was fenced");
  CHECK(member.group.calls("commit").empty());
  CHECK(member.group.calls("leave").empty());
}

TEST_CASE("a group that denies access ends a member only if it never had partitions") {
  TestMember member;
  const kafka::ClientError denied{false, true, false, "group orders: access denied"};
  SECTION("the member never had partitions") {
    member.start();
    member.group.reports(denied);
    REQUIRE(member.loop->join(Deadline::in(patience)));
    REQUIRE(member.loop->fatal());
    CHECK(member.loop->fatal()->kind == ErrorKind::unavailable);
  }
  SECTION("the member had partitions") {
    member.start_with({first});
    member.group.reports(denied);
    member.pass_turn();
    CHECK_FALSE(member.loop->fatal());
    CHECK(member.loop->lanes().size() == 1);
  }
}

TEST_CASE("the reason for a missing broker is known until a broker connects, and then logged") {
  CapturedLog log;
  TestMember member;
  member.start();
  member.group.reports(kafka::Statistics{{}, {}, false});
  member.group.reports({false, false, true, "connection refused"});
  REQUIRE(member.wait_for([&] { return !member.loop->broker_error().empty(); }));
  CHECK(member.loop->broker_error() == "connection refused");
  member.group.reports(kafka::Statistics{{}, {}, true});
  CHECK(member.wait_for([&] { return member.loop->broker_error().empty(); }));
  CHECK(log.lines({"level=info msg=\"the brokers answer again\""}) == 1);
  CHECK_FALSE(member.loop->ended());
}

TEST_CASE("new settings apply to commits, and to drains that begin later") {
  TestMember member;
  member.start_with({first});
  member.finish(0, 1);
  member.pass_turn();
  CHECK(member.group.calls("commit").empty());
  auto settings = std::make_shared<config::Config>();
  settings->lanes = member.context.lanes;
  settings->retry = member.context.retry;
  settings->commit = {milliseconds(1), 1};
  settings->lanes.drain = Duration::zero();
  member.loop->follow(settings);
  REQUIRE(member.wait_for_call("commit orders:3:1"));
  member.group.acknowledges_commit();
  REQUIRE(member.wait_for([&] { return member.loop->stats().commits_acknowledged.get() == 1; }));
  // A drain that still had its old time would wait for the running record for longer than this test waits.
  member.group.revokes({first});
  CHECK(member.wait_for_call("unassign orders:3"));
}

TEST_CASE("lanes are suspended and resumed") {
  TestMember member;
  Suspensions suspensions;
  member.context.suspensions = &suspensions;
  member.start_with({first});
  suspensions.set_here("orders", std::nullopt, true);
  member.loop->suspensions_changed();
  REQUIRE(member.wait_for_state(State::held));
  suspensions.set_here("orders", std::nullopt, false);
  member.loop->suspensions_changed();
  CHECK(member.wait_for_state(State::running));
}

TEST_CASE("with auto.offset.reset: latest, a lane does not begin if its committed offset is unreadable") {
  for (const bool latest : {false, true}) {
    TestMember member;
    member.group.set_cooperative(false);  // otherwise the partition is added later in any case
    if (latest) member.group.set_begins_at_end();
    member.start();
    member.group.assigns({first});
    REQUIRE(member.wait_for_call("ask"));
    member.group.cannot_read_committed();
    if (!latest) {
      CHECK(member.wait_for_call("assign orders:3:-2"));  // the client looks for the offset itself
      continue;
    }
    REQUIRE(member.wait_for([&] { return member.group.calls("ask").size() == 2; }));
    CHECK(member.group.calls("assign orders").empty());
    const auto& stats = member.loop->stats();
    CHECK(member.wait_for([&] { return stats.awaited_offsets.get() == 1; }));
    CHECK(member.wait_for([&] { return stats.awaiting_offsets_since_ns.get() != 0; }));
    member.group.answers_committed({{first, kafka::no_offset, {}}});
    CHECK(member.wait_for_call("assign orders:3:-1"));
    CHECK(member.wait_for([&] { return stats.awaiting_offsets_since_ns.get() == 0; }));
    CHECK(stats.awaited_offsets.get() == 0);
  }
}

TEST_CASE("a rebalance makes a member look for topics of its pattern, but not subscribe again") {
  config::Config config;
  config.topics = {"^orders"};
  TestMember member;
  member.settings.topics.pattern = std::make_shared<const config::ConsumedTopics>(config);
  member.settings.topics.interval = std::chrono::hours(1);
  member.start();
  std::size_t looks = 0;
  const auto looks_again = [&] {
    ++looks;
    REQUIRE(member.wait_for([&] { return member.group.calls("ask topics").size() >= looks; }));
    member.group.names({"orders"});
    member.pass_turn_without_lanes();
  };
  looks_again();
  member.group.assigns({});
  looks_again();
  member.group.revokes({});
  looks_again();
  CHECK(member.group.calls("ask topics").size() == looks);
  CHECK(member.group.calls("subscribe").size() == 1);
}

TEST_CASE("topics that are named are never looked up") {
  TestMember member;
  member.settings.topics.names = {"orders", "payments"};
  member.start();
  REQUIRE(member.wait_for([&] { return member.group.epoch_requests() > 0; }));
  member.pass_turn_without_lanes();  // after the chores
  CHECK(member.group.calls() == Calls{"subscribe orders payments"});
  CHECK_FALSE(member.loop->stats().without_topics.get());
}

TEST_CASE("a member whose pattern has found no topic subscribes to nothing") {
  config::Config config;
  config.topics = {"^orders"};
  TestMember member;
  member.settings.topics = {{}, std::make_shared<const config::ConsumedTopics>(config), seconds(30)};
  member.start();
  REQUIRE(member.wait_for([&] { return member.loop->stats().without_topics.get(); }));
  CHECK(member.group.calls() == Calls{"ask topics"});
}

TEST_CASE("a client whose assignment differs from the lanes is corrected") {
  TestMember member;
  member.start_with({first});
  member.group.forgets(first);
  REQUIRE(member.wait_for([&] { return member.loop->stats().assignment_repairs.get() == 1; }));
  member.handler.open();
  REQUIRE(member.wait_for_call("commit"));
  member.group.acknowledges_commit();
  REQUIRE(member.wait_for([&] { return member.group.calls("ask").size() == 2; }));
  member.group.answers_committed({{first, 2, {}}});
  CHECK(member.wait_for_call("assign orders:3:2"));
}
