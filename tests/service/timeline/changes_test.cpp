// Which events a timeline gets from looks at a service.
#include "service/timeline/changes.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::service;

namespace {

LaneView working(std::int32_t partition, std::uint64_t epoch = 1) {
  LaneView view;
  view.topic = "orders";
  view.partition = partition;
  view.epoch = epoch;
  view.state = lane::State::running;
  return view;
}

/// Looks one after another, a second apart.
class Looks {
 public:
  Look look;

  /// The texts of the events that a look added or changed.
  std::vector<std::string> next(Duration after = seconds(1)) {
    now_ += after;
    const auto known = timeline.since(0, 0).last;
    changes.observe(look, now_, 1000 + duration_cast<milliseconds>(now_.time_since_epoch()).count(),
                    timeline);
    std::vector<std::string> texts;
    for (const auto& event : timeline.since(known, 0).events) texts.push_back(event.text);
    return texts;
  }

  Timeline timeline{0};
  Changes changes;

 private:
  TimePoint now_{};
};

/// Three lanes that have been assigned.
Looks assigned() {
  Looks looks;
  looks.look.lanes = {working(0), working(1), working(2)};
  looks.look.totals.assigned = 1;
  looks.next();
  return looks;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("rebalances are events, and their count goes on with new members") {
  Looks looks;
  CHECK(looks.next().empty());
  looks.look.lanes = {working(0), working(1)};
  looks.look.totals.assigned = 1;
  CHECK(looks.next() == Texts{"Rebalance: added: orders:0, orders:1."});
  CHECK(looks.next().empty());
  looks.look.lanes = {working(1)};
  looks.look.totals.revoked = 1;
  CHECK(looks.next() == Texts{"Rebalance: removed: orders:0."});
  looks.look.totals.assigned = 2;
  CHECK(looks.next() == Texts{"Rebalance: the lanes are the same as before."});
  looks.look.lanes = {working(2)};
  looks.look.totals.lost = 1;
  CHECK(looks.next() == Texts{"Rebalance: partitions were lost; removed: orders:1; added: orders:2."});
  looks.look.totals = {.assigned = 1};  // new members
  CHECK(looks.next() == Texts{"Rebalance: the lanes are the same as before."});
  CHECK(looks.changes.rebalances() == 5);
  looks.look.lanes.clear();
  for (std::int32_t partition = 0; partition < 9; ++partition) looks.look.lanes.push_back(working(partition));
  CHECK(looks.next() ==
        Texts{"Rebalance: added: orders:0, orders:1, orders:3, orders:4, orders:5, orders:6 and 2 more."});
}

TEST_CASE("a reason of readiness is an event once, however its ages change") {
  auto looks = assigned();
  looks.look.readiness = Readiness{{{ReasonCode::stalled, "orders:1: no progress for 60 s", "orders", 1}}};
  CHECK(looks.next() == Texts{"Not ready: orders:1: no progress for 60 s"});
  looks.look.readiness = Readiness{{{ReasonCode::stalled, "orders:1: no progress for 65 s", "orders", 1}}};
  CHECK(looks.next().empty());
  looks.look.readiness.reset();
  CHECK(looks.next().empty());
  looks.look.readiness = Readiness{};
  CHECK(looks.next() == Texts{"The service is ready."});
  CHECK(looks.next().empty());
}

TEST_CASE("the breaker's states are events") {
  auto looks = assigned();
  using State = delivery::Breaker::State;
  looks.look.downstreams.resize(1);
  looks.look.downstreams[0].name = "shop:443";
  CHECK(looks.next().empty());
  looks.look.downstreams[0].state = State::open;
  looks.look.downstreams[0].last_failure = "HTTP 503";
  CHECK(looks.next() == Texts{"The breaker of shop:443 is open: HTTP 503"});
  looks.look.downstreams[0].state = State::closed;
  CHECK(looks.next() == Texts{"The breaker of shop:443 is closed."});
  looks.look.downstreams[0].state = State::off;
  CHECK(looks.next().empty());
}

TEST_CASE("the breakers of two pools have events of their own, also at the same time") {
  auto looks = assigned();
  using State = delivery::Breaker::State;
  looks.look.downstreams = {
      {.name = "shop:443", .pool = "acme", .state = State::closed, .last_failure = ""},
      {.name = "shop:444", .pool = "beta", .state = State::open, .last_failure = "HTTP 503"}};
  CHECK(looks.next() == Texts{"The breaker of the pool beta (shop:444) is open: HTTP 503"});
  looks.look.downstreams[0].state = State::open;
  CHECK(looks.next() == Texts{"The breaker of the pool acme (shop:443) is open."});
  looks.look.downstreams[1].state = State::closed;
  CHECK(looks.next() == Texts{"The breaker of the pool beta (shop:444) is closed."});
}

TEST_CASE("each change of a lane is an event when it begins") {
  auto looks = assigned();
  auto& one = looks.look.lanes[1];
  one.silent = seconds(40);
  one.stuck = 1;
  CHECK(looks.next() ==
        Texts{"orders:1 is silent: the log has new records, and the broker delivers none of them.",
              "orders:1: a running record is stuck and ignores its stop."});
  looks.look.totals.commits_failed = 2;
  CHECK(looks.next() == Texts{"2 commits failed."});
}

TEST_CASE("an operator's request is an event when it is carried out, however short its effect") {
  using Action = ControlRequest::Action;
  using Kind = ControlAnswer::Kind;
  auto looks = assigned();
  const auto request = [&](Action action, const ControlAnswer& answer) {
    const auto known = looks.timeline.since(0, 0).last;
    looks.changes.requested({action, "orders", 1, 40, "bad order"}, answer, 5000, looks.timeline);
    return looks.timeline.since(known, 0).events;
  };
  looks.look.lanes[1].dead_letters = looks.look.totals.dead_letters = 1;
  looks.next();
  const auto suspended = request(Action::suspend, {Kind::done, ""});
  REQUIRE(suspended.size() == 1);
  CHECK(suspended[0].text == "orders:1 is suspended.");
  CHECK(request(Action::suspend, {Kind::done, "", false}).empty());
  const auto resumed = request(Action::resume, {Kind::done, ""});
  REQUIRE(resumed.size() == 1);
  CHECK(resumed[0].text == "orders:1 has been resumed.");
  CHECK(resumed[0].level == TimelineEvent::Level::good);
  CHECK(request(Action::skip, {Kind::refused, ""}).empty());
  const auto skipped = request(Action::skip, {Kind::accepted, ""});
  REQUIRE(skipped.size() == 1);
  CHECK(skipped[0].text == "An operator skips record orders:1:40: bad order");
  looks.look.lanes[1].dead_letters = looks.look.totals.dead_letters = 2;
  CHECK(looks.next() == Texts{"1 dead letter: orders:1."});  // the operator's event stays
}

TEST_CASE("an order about parked records is an event") {
  using Action = ControlRequest::Action;
  using Kind = ControlAnswer::Kind;
  auto looks = assigned();
  looks.changes.requested({.action = Action::send_on, .topic = ""}, {Kind::accepted, ""}, 5000,
                          looks.timeline);
  looks.changes.requested({.action = Action::give_up,
                           .topic = "",
                           .reason = "closed",
                           .pool = "send",
                           .subscriber = std::optional<std::string>("acme")},
                          {Kind::accepted, ""}, 5000, looks.timeline);
  const auto events = looks.timeline.since(0, 0).events;
  REQUIRE(events.size() >= 2);
  CHECK(events[events.size() - 2].text == "An operator sends on the parked records.");
  CHECK(events.back().text ==
        "An operator gives up the parked records of the subscriber acme of the pool send: closed");
}

TEST_CASE("a lane that arrives in this process suspended is an event") {
  auto looks = assigned();
  looks.look.lanes.push_back(working(7));
  looks.look.lanes.back().hold_bits = lane::bit(lane::Hold::suspended);
  CHECK(looks.next() == Texts{"Rebalance: added: orders:7.", "orders:7 is suspended."});
}

TEST_CASE("commits that an old record blocks are an event, and their end is another") {
  auto looks = assigned();
  auto& one = looks.look.lanes[1];
  one.committed = 40;
  one.finished_beyond = 3633;
  one.oldest_age = LaneView::blocked_after - milliseconds(1);
  CHECK(looks.next().empty());
  one.oldest_age = LaneView::blocked_after;
  CHECK(looks.next() == Texts{"orders:1: record orders:1:40 is not finished and blocks the commits; later "
                              "records are finished."});
  one.finished_beyond = 0;
  CHECK(looks.next() == Texts{"orders:1: the commits are no longer blocked."});
  one.oldest_age = seconds(600);  // a record that is old, with nothing finished behind it, blocks nothing
  CHECK(looks.next().empty());
}

TEST_CASE("dead letters in a row are one event, and all are counted when their lane goes") {
  auto looks = assigned();
  looks.look.lanes[1].dead_letters = 2;
  looks.look.totals.dead_letters = 2;
  CHECK(looks.next() == Texts{"2 dead letters: orders:1."});
  looks.look.lanes[2].dead_letters = 1;
  looks.look.totals.dead_letters = 3;
  CHECK(looks.next() == Texts{"3 dead letters: orders:1 (2), orders:2 (1)."});
  CHECK(looks.timeline.since(0, 0).events.size() == 2);  // with the rebalance
  // One more, of a lane that is gone by then; and another epoch, which begins at zero.
  looks.look.lanes = {working(0), working(1, 2)};
  looks.look.totals.dead_letters = 4;
  CHECK(looks.next() == Texts{"Rebalance: removed: orders:2.", "1 dead letter."});
  looks.look.lanes[1].dead_letters = 1;
  looks.look.totals.dead_letters = 5;
  CHECK(looks.next() == Texts{"2 dead letters: orders:1 (1)."});
  looks.look.lanes[1].dead_letters = 2;
  looks.look.totals.dead_letters = 6;
  CHECK(looks.next(seconds(601)) == Texts{"1 dead letter: orders:1."});
}
