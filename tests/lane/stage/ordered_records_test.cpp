// Records that are parked are counted, and an operator sends them on or gives them up; in virtual time.
#include <set>

#include "lane/stage/parked_topics.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

namespace ordered_records {
namespace {

using std::chrono::minutes;

constexpr DownstreamRules breaks{.breaker = {.failures = 5, .window = seconds(30), .probe = Duration(1)}};

/// An event of a subscriber.
using Delivery = std::pair<std::string, std::int64_t>;

/// What lasts longer than a process: the receivers and the dead-letter topic.
struct Outside {
  std::set<std::string> out;
  std::multiset<Delivery> got;
  std::multiset<Delivery> letters;
  std::set<std::string> reasons;  // of the letters
  std::uint32_t rate = 0;         // of a subscriber, in records a second; 0: any

  std::size_t letters_of(const std::string& subscriber) const {
    return static_cast<std::size_t>(std::count_if(
        letters.begin(), letters.end(), [&](const auto& letter) { return letter.first == subscriber; }));
  }
};

/// Each event goes to the subscribers "good", "bad" and "worse".
struct Process : ParkingInstance {
  Process(ParkedTopics& topics, TimePoint& now, Outside& to, ParkingInstance::Commits& commits)
      : ParkingInstance(topics, now), outside(to) {
    each.by = {config::Selector::Kind::part, ""};
    each.rate = {outside.rate, 0, seconds(1)};
    limits = std::make_unique<KeyedLimits>("send", breaks, each);
    auto& fan_pool = context.stages.emplace_back();
    fan_pool.settings.name = "fan";
    fan_pool.settings.queue = 256;
    fan_pool.handler = &fan;
    fan_pool.downstream = &never_out;
    fan_pool.then = 1;
    auto& send_pool = context.stages.emplace_back();
    send_pool.settings.name = "send";
    send_pool.settings.queue = 256;
    send_pool.settings.each = each;
    send_pool.handler = &send;
    send_pool.downstream = &never_out;
    send_pool.each = limits.get();
    orders.set_longest_delay(minutes(10));
    context.parked_records = &records;
    context.parked_orders = &orders;
    context.forward = &forward;
    context.retry.max_waiting = 100000;  // what is read later seems to be parked later: records do not age
    start(commits);
  }
  ~Process() { end_lanes(); }
  Process(const Process&) = delete;

  bool order(ParkedOrder wanted, TimePoint at) {
    wanted.given = at;
    if (!orders.give(wanted)) return false;
    records.all_due();
    for (const auto* topic : {"events", "events-retry-10s", "events-retry-1m", "events-retry-10m"})
      lane(topic).follow_parked_orders(at);
    return true;
  }

  Outside& outside;
  config::Each each;
  Downstream never_out{"none", {.breaker = {.failures = 0}}};
  std::unique_ptr<KeyedLimits> limits;
  ParkedRecords records;
  ParkedOrders orders;
  InstantHandler fan{[](const handler::Attempt&) {
    handler::Parts parts;
    for (const auto* name : {"good", "bad", "worse"}) parts.push_back({name, {}, {}, {}, true});
    return Outcome::done(std::move(parts));
  }};
  InstantHandler send{[this](const handler::Attempt& attempt) {
    const std::string part(attempt.part);
    if (outside.out.contains(part)) return Outcome::unavailable("HTTP 503");
    outside.got.emplace(part, attempt.record.offset());
    return Outcome::done();
  }};
  InstantHandler forward{[this](const handler::Attempt& attempt) {
    outside.letters.emplace(std::string(attempt.part), attempt.record.offset());
    outside.reasons.insert(attempt.failures->reason);
    return Outcome::done();
  }};
};

struct ParkedWorld {
  explicit ParkedWorld(std::uint32_t rate = 0) {
    outside.rate = rate;
    begin();
  }
  void begin() { process = std::make_unique<Process>(topics, now, outside, commits); }
  void pass(Duration time) {
    for (const auto end = now + time; now < end;) {
      now += milliseconds(100);
      if (events_come && now - last_event >= seconds(2)) {
        last_event = now;
        topics.write({"events", 0}, {});
      }
      process->turn();
      if (++turns % 10 != 0) continue;
      process->settle();
      process->commit();
    }
  }
  /// The subscriber's deliveries and dead letters together: each event once, if nothing is lost or repeated.
  bool each_once(const std::string& subscriber) {
    const auto events = topics.log("events").end();
    for (std::int64_t event = 0; event < events; ++event)
      if (outside.got.count({subscriber, event}) + outside.letters.count({subscriber, event}) != 1)
        return false;
    return true;
  }
  /// Events that the subscriber has not got.
  std::uint64_t missed(const std::string& subscriber) {
    const auto of = [&](const Delivery& delivery) { return delivery.first == subscriber; };
    return topics.log("events").size() -
           static_cast<std::size_t>(std::count_if(outside.got.begin(), outside.got.end(), of));
  }

  TimePoint now = SteadyClock::now();
  ParkedTopics topics;
  Outside outside;
  ParkingInstance::Commits commits;
  bool events_come = true;
  TimePoint last_event = now;
  std::uint64_t turns = 0;
  std::unique_ptr<Process> process;
};

}  // namespace

TEST_CASE("parked records are counted by subscriber, with the time since when the oldest waits") {
  ParkedWorld world;
  world.pass(seconds(30));
  CHECK(world.process->records.of_pool("send", world.now).empty());
  world.outside.out = {"bad"};
  const auto began = world.now;
  world.pass(seconds(18));
  auto counts = world.process->records.of_pool("send", world.now);
  REQUIRE(counts.contains("bad"));
  CHECK(counts.at("bad").oldest >= began - seconds(1));
  CHECK(counts.at("bad").oldest <= began + seconds(10));
  world.pass(minutes(30));
  counts = world.process->records.of_pool("send", world.now);
  REQUIRE(counts.size() == 1);
  REQUIRE(counts.contains("bad"));
  const auto missed = world.missed("bad");
  CHECK(missed > 800);
  CHECK(counts.at("bad").records <= missed);
  // Due times are rounded down, and new records wait in their lane for ten seconds.
  CHECK(counts.at("bad").records + missed / 16 >= missed);
  CHECK(world.process->records.of_pool("fan", world.now).empty());

  world.outside.out = {};
  world.events_come = false;
  world.pass(minutes(12));
  CHECK(world.process->records.of_pool("send", world.now).empty());
  CHECK(world.each_once("bad"));
}

TEST_CASE("parked records that are sent on run at once, and not after the delay of their topic") {
  ParkedWorld world;
  world.pass(seconds(30));
  world.outside.out = {"bad", "worse"};
  world.pass(minutes(20));
  world.outside.out = {"worse"};
  world.events_come = false;
  world.pass(seconds(30));
  CHECK_FALSE(world.each_once("bad"));
  REQUIRE(world.process->order({}, world.now));
  world.pass(minutes(1));
  CHECK(world.each_once("bad"));
  CHECK(world.each_once("good"));
  CHECK(world.outside.letters.empty());
  CHECK_FALSE(world.each_once("worse"));
  CHECK(world.process->records.of_pool("send", world.now).at("worse").records > 400);  // parked again
  world.outside.out = {};
  world.pass(minutes(12));
  CHECK(world.each_once("worse"));
  CHECK(world.process->orders.standing(world.now).empty());
}

TEST_CASE("parked records that are sent on come at the rate of their subscriber, and none is parked again") {
  ParkedWorld world(10);
  world.pass(seconds(30));
  world.outside.out = {"bad"};
  world.pass(minutes(20));
  world.events_come = false;
  world.pass(seconds(30));
  world.outside.out = {};
  world.pass(seconds(1));  // a probe finds that the subscriber is back
  const auto missed = world.missed("bad");
  REQUIRE(missed > 500);
  REQUIRE(world.process->order({}, world.now));
  const auto parked = world.topics.log("events-retry-10m").size();
  world.pass(seconds(20));
  const auto came = missed - world.missed("bad");
  CHECK((came >= 180 && came <= 220));
  world.pass(milliseconds(100) * missed - seconds(10));
  CHECK(world.each_once("bad"));
  CHECK(world.topics.log("events-retry-10m").size() == parked);
}

TEST_CASE(
    "parked records of a subscriber are given up, but not those of others or those that are parked later") {
  for (const bool works_again : {false, true}) {
    ParkedWorld world;
    world.pass(seconds(30));
    world.outside.out = {"bad", "worse"};
    world.pass(minutes(20));
    const auto before = world.process->records.of_pool("send", world.now).at("bad").records;
    if (works_again) world.outside.out = {"worse"};
    REQUIRE(world.process->order({.pool = "send", .subscriber = "bad", .reason = "ticket 4711"}, world.now));
    const auto got = world.outside.got.size();
    world.pass(minutes(1));
    const auto letters = world.outside.letters_of("bad");
    CHECK(letters >= before);
    CHECK(letters <= before + before / 8);  // those that were due, and on their way
    CHECK(world.outside.letters.size() == letters);
    CHECK(world.process->orders.standing(world.now).front().given_up == letters);
    for (const auto& reason : world.outside.reasons)
      CHECK_THAT(reason, Catch::StartsWith("skipped by an operator: ticket 4711"));
    CHECK(world.outside.got.size() - got < 150);  // the new events, and not those that were given up

    world.pass(minutes(5));
    CHECK(world.outside.letters.size() == letters);
    world.outside.out = {};
    world.events_come = false;
    world.pass(minutes(25));
    for (const auto* subscriber : {"good", "bad", "worse"}) CHECK(world.each_once(subscriber));
    CHECK(world.outside.letters.size() == letters);
    CHECK(world.process->orders.standing(world.now).empty());
  }
}

TEST_CASE("a record that no retry topic has taken yet is not parked, so an order does not give it up") {
  ParkedWorld world;
  world.pass(seconds(30));
  world.outside.out = {"bad"};
  world.process->brokers_refuse = true;
  world.pass(minutes(2));
  REQUIRE(world.process->order({.pool = "send", .reason = "ticket 4711"}, world.now));
  world.pass(minutes(1));
  CHECK(world.outside.letters.empty());
  world.process->brokers_refuse = false;
  world.outside.out = {};
  world.events_come = false;
  world.pass(minutes(25));
  CHECK(world.outside.letters.empty());
  CHECK(world.each_once("bad"));
}

TEST_CASE("a restart forgets the order about parked records, and loses none of them") {
  ParkedWorld world;
  world.pass(seconds(30));
  world.outside.out = {"bad"};
  world.pass(minutes(20));
  REQUIRE(world.process->order({.pool = "send", .reason = "ticket 4711"}, world.now));
  world.pass(milliseconds(300));
  world.process->stop();
  world.begin();
  const auto letters = world.outside.letters.size();
  world.pass(minutes(1));
  CHECK(world.outside.letters.size() == letters);
  world.outside.out = {};
  world.events_come = false;
  world.pass(minutes(25));
  for (const auto* subscriber : {"good", "bad", "worse"}) CHECK(world.each_once(subscriber));
}

}  // namespace ordered_records
