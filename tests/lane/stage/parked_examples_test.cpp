// The shipped examples with a subscriber or a pool that is out for hours, in virtual time: what the others
// notice, what the lanes hold meanwhile, and what comes afterwards. The tests with the tag [hours] are
// hidden: they are the same with an outage of six hours. With LANEWAY_TELL=1 the figures are printed.
#include "lane/stage/example_world.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

namespace {

using std::chrono::hours;
using std::chrono::minutes;

const auto all_subscribers = std::make_shared<const ExampleWorld::Receivers>(ExampleWorld::Receivers{
    "audit", "billing", "crm", "invoice", "ledger", "legacy", "mail", "partner", "search", "stock"});

/// config/examples/webhook-fanout.yaml with ten subscribers, each of which wants every event. 8 events come a
/// second, as the limit of a subscriber is 10 requests a second.
struct WebhookExample {
  explicit WebhookExample(const std::vector<std::string>& sets = {}, Duration between = milliseconds(125))
      : world(
            example("webhook-fanout", sets), {{"fan", fan}, {"send", send}},
            [](std::int64_t) {
              kafka::RecordData event;
              event.value = std::string(1000, 'x');
              return ExampleWorld::Event{std::move(event), all_subscribers};
            },
            between) {}

  static Outcome fan(const handler::Attempt&) {
    handler::Parts parts;
    for (const auto& name : *all_subscribers) parts.push_back({name, {}, {}, {}, true});
    return Outcome::done(std::move(parts));
  }
  InstantHandler::Answer send = [this](const handler::Attempt& attempt) {
    const std::string part(attempt.part);
    if (world.all_are_out || world.out == part) return Outcome::unavailable("HTTP 503");
    world.arrived(part, attempt);
    return Outcome::done();
  };
  ExampleWorld world;
};

/// config/examples/priority-tiers.yaml, but for parking, which it turns off: of ten jobs four are high, four
/// medium and two low.
struct PriorityExample {
  PriorityExample()
      : world(
            example("priority-tiers", {"lanes.park_after=10s"}),
            {{"high", work("high")}, {"medium", work("medium")}, {"low", work("low")}},
            [](std::int64_t number) {
              const std::string priority = number % 5 < 2 ? "high" : number % 5 < 4 ? "medium" : "low";
              kafka::RecordData job;
              job.headers.emplace_back("priority", priority);
              job.value = std::string(1000, 'x');
              return ExampleWorld::Event{std::move(job), std::make_shared<const ExampleWorld::Receivers>(
                                                             ExampleWorld::Receivers{priority})};
            },
            milliseconds(200)) {}

  InstantHandler::Answer work(const std::string& pool) {
    return [this, pool](const handler::Attempt& attempt) {
      if (world.out == pool) return Outcome::unavailable("the disk is full");
      world.arrived(pool, attempt);
      return Outcome::done();
    };
  }
  ExampleWorld world;
};

void check_others_notice_nothing(const ExampleWorld& world) {
  CHECK(world.seen.least_of_a_minute >= 0.98);
  CHECK(world.seen.longest_uncommitted <= minutes(1));
  // A lane that pauses takes what its client has fetched already, which has as much room as the lane.
  CHECK(world.seen.most_bytes <= 2 * world.lane_bytes());
  CHECK(world.seen.most_waiting <= world.max_waiting() + world.max_waiting() / 10);  // and probes
}

/// A subscriber of the shipped example, which keeps events for 24 hours, is out for less.
void test_outage_that_is_survived(Duration outage) {
  WebhookExample test;
  auto& world = test.world;
  world.begin();
  world.pass(minutes(2));
  world.out = "legacy";
  world.pass(outage / 2);
  check_others_notice_nothing(world);
  world.restart();
  world.pass(outage / 2);
  check_others_notice_nothing(world);
  world.out.clear();
  const auto took = world.finish(2 * outage + minutes(30));
  CHECK(world.wrong(*all_subscribers) == Wrong{0, 0});
  CHECK(world.letters.empty());
  CHECK(world.highest_attempt == 1);
  // 10 requests a second are its limit, and 8 events came a second.
  CHECK(took <= outage * 8 / 10 * 11 / 10 + minutes(21));
  world.tell("webhook-fanout", took);
}

/// The same with a shorter longest_wait: events that have waited for so long are dead letters, the others
/// come.
void test_outage_that_is_too_long(Duration outage, Duration longest_wait) {
  WebhookExample test({"pools.send.each.longest_wait=" + std::to_string(longest_wait / seconds(1)) + "s"});
  auto& world = test.world;
  world.begin();
  world.pass(minutes(2));
  const auto out_at = world.now;
  world.out = "legacy";
  world.pass(outage);
  check_others_notice_nothing(world);
  const auto back_at = world.now;
  const auto letters_of_the_outage = world.letters["legacy"].all();
  world.out.clear();
  const auto took = world.finish(2 * outage + minutes(30));
  CHECK(world.letters.size() == 1);
  CHECK(world.wrong(*all_subscribers) == Wrong{0, 0});  // what came and the dead letters together
  world.tell("webhook-fanout", took);
  // A record in the last retry topic is seen each ten minutes, and the lane takes it that much earlier.
  const auto oldest = [&](Duration before) {
    return world.written_between(out_at, back_at - longest_wait - before);
  };
  CHECK(letters_of_the_outage >= oldest(minutes(22)));
  CHECK(letters_of_the_outage <= oldest(Duration::zero()));
}

void test_pool_that_is_out(Duration outage) {
  PriorityExample test;
  auto& world = test.world;
  world.begin();
  for (const auto* pool : {"medium", "low", "high"}) {
    world.out = pool;
    world.pass(outage);
    check_others_notice_nothing(world);
    world.out.clear();
    const auto took = world.finish(minutes(30));
    CHECK(world.wrong({"high", "medium", "low"}) == Wrong{0, 0});
    CHECK(world.letters.empty());
    CHECK(world.highest_attempt == 1);
    // What is in the last retry topic comes back within ten minutes.
    CHECK(took <= minutes(12));
    world.tell("priority-tiers", took);
  }
}

}  // namespace

TEST_CASE("webhook-fanout: a subscriber that is out costs the others nothing, and gets everything later",
          "[one-thread]") {
  test_outage_that_is_survived(minutes(30));
}

TEST_CASE("webhook-fanout: the same for six hours", "[.][hours]") { test_outage_that_is_survived(hours(6)); }

TEST_CASE("webhook-fanout: what waits longer than longest_wait is a dead letter, the rest comes later",
          "[one-thread]") {
  test_outage_that_is_too_long(minutes(40), minutes(10));
}

TEST_CASE("webhook-fanout: the same for six hours, with longest_wait 1h", "[.][hours]") {
  test_outage_that_is_too_long(hours(6), hours(1));
}

TEST_CASE("webhook-fanout: what waits at the quiet end of a stream ends in time", "[one-thread]") {
  WebhookExample test({"pools.send.each.longest_wait=10m"});
  auto& world = test.world;
  world.begin();
  world.pass(minutes(2));
  const auto out_at = world.now;
  world.out = "legacy";
  world.pass(minutes(3));
  const auto missed = [&] { return world.written_between(out_at, world.now + seconds(1)); };
  const auto letters = [&] { return world.letters["legacy"].all(); };

  SECTION("while the process lives") {
    world.pass(minutes(6), false);
    CHECK(letters() == 0);
    world.pass(minutes(15), false);
    CHECK(letters() == missed());
  }
  SECTION("after a restart, when others have worked: the time before counts") {
    world.pass(minutes(1), false);
    world.restart();
    world.pass(minutes(40), false);  // nobody works, so the fault may be on this side
    CHECK(letters() == 0);
    world.pass(seconds(1));
    world.pass(minutes(9), false);
    CHECK(letters() == 0);  // the subscriber is to be tried first
    world.pass(minutes(12), false);
    CHECK(letters() == missed());
  }
  world.out.clear();
  world.finish(minutes(30));
  CHECK(world.wrong(*all_subscribers) == Wrong{0, 0});
}

TEST_CASE("webhook-fanout: an outage of all that is longer than longest_wait gives up nothing",
          "[one-thread]") {
  WebhookExample test({"pools.send.each.longest_wait=30m"}, milliseconds(500));
  auto& world = test.world;
  world.begin();
  world.pass(minutes(2));
  world.out = "legacy";
  world.pass(minutes(3));
  world.all_are_out = true;
  world.pass(hours(1));
  SECTION("while the process lives") {}
  SECTION("although the process is restarted meanwhile") {
    world.restart();
    world.pass(minutes(2));
  }
  world.all_are_out = false;
  SECTION("the one that was out before works again later than the others") { world.pass(minutes(5)); }
  world.out.clear();
  world.finish(hours(2));
  CHECK(world.letters.empty());
  CHECK(world.wrong(*all_subscribers) == Wrong{0, 0});
}

TEST_CASE("priority-tiers: a pool that is out costs the others nothing, and gets everything later",
          "[one-thread]") {
  test_pool_that_is_out(minutes(15));
}

TEST_CASE("priority-tiers: the same for six hours", "[.][hours]") { test_pool_that_is_out(hours(6)); }

TEST_CASE("image-pipeline: nothing is parked, because each pool leads to the next one", "[one-thread]") {
  CHECK(config::not_parked_because(example("image-pipeline")) == "no other records of a lane could go on");
}
