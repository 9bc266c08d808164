// Requests to the lanes of members whose group the test plays (lane/member/fake_group.h).
#include "service/lanes/lane_requests.h"

#include <map>
#include <memory>

#include "catch.h"
#include "lane/member/fake_group.h"
#include "lane/support.h"
#include "service/support.h"

using namespace laneway;
using namespace laneway::service;
using Kind = ControlAnswer::Kind;

namespace {

const kafka::TopicPartition orders{"orders", 0};

/// A member with a quiet lane, whose brokers acknowledge every commit, or none until they are told to.
class QuietMember {
 public:
  explicit QuietMember(bool acknowledges = true) {
    context.stages.resize(1);
    context.stages.front().settings.workers = context.stages.front().settings.queue = 1;
    context.lanes.drain = patience;
    context.memory.lane_bytes = 1 << 20;
    context.memory.fetch.queued_min_messages = 1000;
    context.retry.max_crashes = 0;
    context.stages.front().downstream = &no_breaker;
    context.stages.front().handler = &handler;
    context.suspensions = &suspensions;
    settings.topics.names = {"orders"};
    settings.commit = {std::chrono::hours(1), 1000000};
    settings.still_draining = std::make_shared<lane::StillDraining>();
    settings.member_client.make_consumer = [this](const auto&, const auto&, std::function<void()> on_event)
        -> Result<std::unique_ptr<kafka::Consumer>> { return group.consumer(std::move(on_event)); };
    settings.member_client.open_source = [this](kafka::Consumer&, const kafka::TopicPartition&,
                                                const std::function<void()>&) {
      return std::make_unique<lane::SimulatedSource>(partition);
    };
    loop = std::make_shared<lane::ConsumerLoop>(context, settings, [] {});
    REQUIRE(loop->start());
    if (acknowledges) group.acknowledges_all();
    group.assigns({orders});
    REQUIRE(eventually([&] { return !group.calls("ask").empty(); }));
    group.answers_committed({{orders, 0, {}}});
    REQUIRE(eventually([&] { return !loop->lanes().empty(); }));
  }
  ~QuietMember() {
    gate.open();
    loop->cut_short();
    CHECK(eventually([&] { return loop->ended(); }));
  }
  QuietMember(const QuietMember&) = delete;

  /// The loop's thread does not come back from a call until the gate opens.
  void hang() {
    const auto hangs = std::make_shared<std::atomic<bool>>(false);
    REQUIRE(loop->post([this, hangs](lane::Lane&, TimePoint) {
      hangs->store(true);
      gate.wait();
    }));
    REQUIRE(eventually([&] { return hangs->load(); }));
  }
  ControlAnswer suspend(Duration at_most) { return ask(ControlRequest::Action::suspend, at_most); }
  ControlAnswer resume(Duration at_most) { return ask(ControlRequest::Action::resume, at_most); }
  ControlAnswer ask(ControlRequest::Action action, Duration at_most) {
    return control({loop}, suspensions, {.action = action, .topic = "orders"}, at_most);
  }

  lane::Downstream no_breaker{"none", {.breaker = {.failures = 0}}};
  lane::Suspensions suspensions;
  lane::LaneContext context;
  lane::LoopSettings settings;
  lane::FakeGroup group;
  lane::Partition partition;
  lane::HeldHandler handler;
  Gate gate;
  std::shared_ptr<lane::ConsumerLoop> loop;
};

}  // namespace

TEST_CASE("a suspension is stored when each lane has reported that the brokers have it") {
  QuietMember member;
  CHECK(member.suspend(patience).kind == Kind::done);
}

TEST_CASE("the end of a suspension is stored, and until then the answer warns that the suspension returns") {
  QuietMember member;
  REQUIRE(member.suspend(patience).kind == Kind::done);
  SECTION("a working member ends the suspension") {
    const auto answer = member.resume(patience);
    CHECK(answer.kind == Kind::done);
    CHECK(answer.text == "orders is resumed");
  }
  SECTION("a hanging member ends the suspension") {
    member.hang();
    const auto answer = member.resume(milliseconds(50));
    CHECK(answer.kind == Kind::accepted);
    CHECK_THAT(answer.text, Catch::Contains("the suspension comes back"));
  }
}

TEST_CASE("the end of a suspension whose commit is in flight is stored when the brokers have the end") {
  QuietMember member(false);
  REQUIRE(member.suspend(milliseconds(50)).kind == Kind::accepted);
  REQUIRE(eventually([&] { return !member.group.calls("commit").empty(); }));
  const auto answer = member.resume(milliseconds(50));
  CHECK(answer.kind == Kind::accepted);
  CHECK_THAT(answer.text, Catch::Contains("the suspension comes back"));
  const auto again = member.resume(milliseconds(50));
  CHECK(again.kind == Kind::accepted);
  CHECK_THAT(again.text, Catch::Contains("the suspension comes back"));
  member.group.acknowledges_all();
  CHECK(member.resume(patience).kind == Kind::done);
}

TEST_CASE("while a member hangs, even with too many requests, no suspension counts as stored") {
  const bool full = GENERATE(false, true);
  QuietMember member;
  member.hang();
  while (full && member.loop->post([](lane::Lane&, TimePoint) {})) {
  }
  const auto answer = member.suspend(milliseconds(50));
  CHECK(answer.kind == Kind::accepted);
  CHECK_THAT(answer.text, Catch::Contains("the brokers have not stored this yet"));
}
