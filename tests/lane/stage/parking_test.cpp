// Records that wait for a subscriber or pool that is out leave their lane, so that the others never stop.
#include <array>
#include <set>

#include "lane/stage/parked_topics.h"
#include "lane/stage/pooled_lane.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

namespace {

using std::chrono::hours;
using std::chrono::minutes;

/// As shipped.
constexpr DownstreamRules rules{.breaker = {.failures = 5, .window = seconds(30), .probe = seconds(5)}};

const std::vector<std::string>& subscribers() {
  static const std::vector<std::string> all{"audit", "billing", "crm", "legacy"};
  return all;
}

/// The receivers, what they have got, and when; legacy may be out.
struct Receivers {
  std::map<std::string, std::map<std::int64_t, std::vector<TimePoint>>> got;
  std::size_t failed = 0;
  std::size_t wrong_values = 0;
  bool legacy_is_out = false;
  bool all_are_out = false;
  bool answer_500 = false;  // those that are out

  std::size_t times(const std::string& subscriber, std::int64_t event) const {
    const auto& events = got.at(subscriber);
    const auto found = events.find(event);
    return found == events.end() ? 0 : found->second.size();
  }
};

/// Like config/examples/webhook-fanout.yaml.
struct Webhooks : ParkingInstance {
  Webhooks(ParkedTopics& topics, TimePoint& now, Receivers& to, ParkingInstance::Commits& commits)
      : ParkingInstance(topics, now), receivers(to), time(now) {
    each.by = {config::Selector::Kind::part, ""};
    each.rate.records = 10;
    each.rate.burst = milliseconds(500);
    each.workers = 4;
    limits = std::make_unique<KeyedLimits>("send", rules, each);
    auto& fan_pool = context.stages.emplace_back();
    fan_pool.settings.name = "fan";
    fan_pool.settings.workers = 2;
    fan_pool.settings.queue = 256;
    fan_pool.handler = &fan;
    fan_pool.downstream = &fanned;
    fan_pool.then = 1;
    auto& send_pool = context.stages.emplace_back();
    send_pool.settings.name = "send";
    send_pool.settings.workers = 8;
    send_pool.settings.queue = 256;
    send_pool.settings.retry_workers = 2;
    send_pool.settings.each = each;
    send_pool.handler = &send;
    send_pool.downstream = &never_out;
    send_pool.each = limits.get();
    start(commits);
  }

  Receivers& receivers;
  const TimePoint& time;
  config::Each each;
  // Each stage has its own: what works in one is no evidence for the other.
  Downstream fanned{"fan", {.breaker = {.failures = 0}}};
  Downstream never_out{"none", {.breaker = {.failures = 0}}};
  std::unique_ptr<KeyedLimits> limits;
  InstantHandler fan{[](const handler::Attempt&) {
    handler::Parts parts;
    for (const auto& name : subscribers()) parts.push_back({name, {}, {}, {}, true});
    parts.back().keeps_value = false;
    parts.back().value = "for legacy";
    return Outcome::done(std::move(parts));
  }};
  InstantHandler send{[this](const handler::Attempt& attempt) {
    if (receivers.all_are_out || (attempt.part == "legacy" && receivers.legacy_is_out)) {
      ++receivers.failed;
      return Outcome::unavailable("HTTP 503");
    }
    receivers.got[std::string(attempt.part)][attempt.record.offset()].push_back(time);
    if ((attempt.record.value() == "for legacy") != (attempt.part == "legacy")) ++receivers.wrong_values;
    return Outcome::done();
  }};
};

/// Two pools beside each other, by the key of a record; that of "dead" may be out.
struct Bulkheads : ParkingInstance {
  Bulkheads(ParkedTopics& topics, TimePoint& now, Receivers& to, ParkingInstance::Commits& commits)
      : ParkingInstance(topics, now), receivers(to), time(now) {
    for (const auto* name : {"alive", "dead"}) {
      auto& pool = context.stages.emplace_back();
      pool.settings.name = name;
      pool.settings.workers = 8;
      pool.settings.queue = 256;
      pool.handler = &work;
      pool.downstream = &downstreams[context.stages.size() - 1];
    }
    route.by = {config::Selector::Kind::key, ""};
    route.rows = {{"dead", false, "dead"}};
    route.otherwise = "alive";
    router.emplace(route, std::vector<std::string>{"alive", "dead"});
    context.router = &*router;
    start(commits);
  }

  Receivers& receivers;
  const TimePoint& time;
  config::RouteSettings route;
  std::optional<Router> router;
  std::array<Downstream, 2> downstreams{Downstream("alive", rules), Downstream("dead", rules)};
  InstantHandler work{[this](const handler::Attempt& attempt) {
    const auto key = std::string(attempt.record.key().value_or(""));
    if (key == "dead" && receivers.legacy_is_out)
      return receivers.answer_500 ? Outcome::retry("HTTP 500") : Outcome::unavailable("refused");
    receivers.got[key][attempt.record.offset()].push_back(time);
    return Outcome::done();
  }};
};

/// Events come at a steady rate, and the instance is stopped, killed and started.
template <class Instance>
struct WorldOf {
  WorldOf() { begin(); }
  void begin() { instance = std::make_unique<Instance>(topics, now, receivers, commits); }
  void pass(Duration time, Duration step = milliseconds(100)) {
    for (const auto end = now + time; now < end;) {
      now += step;
      while (between > Duration::zero() && now - last_event >= between) {
        last_event += between;
        kafka::RecordData data;
        data.value = std::string(1000, 'x');
        if (!keys.empty()) data.key = keys[written.size() % keys.size()];
        topics.write({"events", 0}, std::move(data));
        written.push_back(now);
      }
      instance->turn();
      if (now - last_commit >= seconds(1)) {
        instance->settle();
        instance->commit();
        last_commit = now;
        check_bounds();
      }
    }
  }
  std::int64_t events() { return static_cast<std::int64_t>(topics.log("events").size()); }
  void check_bounds() {
    const auto committed = commits.at({"events", 0}).offset;
    if (committed < events())
      longest_uncommitted = std::max(longest_uncommitted, now - written[static_cast<std::size_t>(committed)]);
    most_bytes = std::max(most_bytes, instance->lane("events").stats().record_bytes.get());
  }
  void restart() {
    instance->stop();
    begin();
  }
  void kill() {
    instance.reset();
    begin();
  }
  /// What is wrong with the events that came to the subscriber.
  Wrong wrong(const std::string& subscriber, std::int64_t from, std::int64_t to) const {
    Wrong wrong;
    for (auto event = from; event < to; ++event) {
      const auto times = receivers.times(subscriber, event);
      (times == 0 ? wrong.missing : wrong.twice) += times == 0 ? 1 : times - 1;
    }
    return wrong;
  }

  /// The numbers of attempts in the headers of a retry topic.
  std::set<std::string> attempts_in(const std::string& topic) {
    std::set<std::string> attempts;
    for (const auto& entry : topics.log(topic).entries)
      for (const auto& [name, value] : entry.headers)
        if (name == "laneway-retry-attempts") attempts.insert(*value);
    return attempts;
  }

  TimePoint now = SteadyClock::now();
  const VirtualClock clock{now};
  ParkedTopics topics;
  Receivers receivers;
  ParkingInstance::Commits commits;
  Duration between = milliseconds(125);  // 8 events a second
  TimePoint last_event = now;
  TimePoint last_commit = now;
  std::vector<TimePoint> written;
  std::vector<std::string> keys;  // of the events, in turn
  Duration longest_uncommitted{};
  std::uint64_t most_bytes = 0;
  std::unique_ptr<Instance> instance;
};
using World = WorldOf<Webhooks>;

}  // namespace

TEST_CASE("a subscriber that is out for hours costs the others nothing, and gets everything later",
          "[one-thread]") {
  World world;
  world.pass(minutes(1));
  const auto first_missed = world.events();
  world.pass(milliseconds(100));
  world.receivers.legacy_is_out = true;
  world.pass(minutes(40));
  const auto end = world.events();
  world.pass(seconds(1));
  for (const auto* living : {"audit", "billing", "crm"}) CHECK(world.wrong(living, 0, end) == Wrong{0, 0});
  CHECK(world.longest_uncommitted <= seconds(30));
  CHECK(world.most_bytes <= world.instance->context.memory.lane_bytes / 8);
  CHECK(world.wrong("legacy", 0, first_missed) == Wrong{0, 0});
  CHECK(world.wrong("legacy", first_missed + 1, end) ==
        Wrong{0, static_cast<std::size_t>(end - first_missed - 1)});

  world.receivers.legacy_is_out = false;
  world.between = milliseconds(500);
  world.pass(hours(1));
  world.between = Duration::zero();
  world.pass(minutes(10));
  CHECK(world.wrong("legacy", 0, world.events()) == Wrong{0, 0});
  for (const auto* living : {"audit", "billing", "crm"})
    CHECK(world.wrong(living, 0, world.events()) == Wrong{0, 0});
  CHECK(world.commits.at({"events", 0}).offset == world.events());
  CHECK(world.attempts_in("events-retry-10m") == std::set<std::string>{"0"});
}

TEST_CASE("what writes parked records is no worker of the lane") {
  World world;
  std::uint32_t workers = 0;
  for (const auto* pool : world.instance->lane("events").pools()) workers += pool->limits().workers;
  CHECK(workers == 2 + 8 + 2);  // fan, send, and send's for failed records
}

TEST_CASE("a parked record is committed when its retry topic has acknowledged the record, and not before") {
  World world;
  world.pass(seconds(30));
  world.receivers.legacy_is_out = true;
  world.instance->brokers_refuse = true;
  const auto first_missed = world.events();
  world.pass(minutes(1));
  CHECK(world.commits.at({"events", 0}).offset <= first_missed + 1);
  CHECK(world.topics.log("events-retry-10s").empty());
  CHECK(world.wrong("audit", 0, world.events() - 10) == Wrong{0, 0});  // they go on nevertheless
  world.instance->brokers_refuse = false;
  world.pass(minutes(2));
  CHECK(world.commits.at({"events", 0}).offset >= world.events() - 100);
}

TEST_CASE("a record that no retry topic has taken runs as it was when its subscriber is back") {
  World world;
  world.pass(seconds(30));
  world.receivers.legacy_is_out = true;
  world.instance->brokers_refuse = true;
  world.pass(minutes(1));
  world.receivers.legacy_is_out = false;
  world.between = Duration::zero();
  world.pass(minutes(2));
  CHECK(world.topics.log("events-retry-10s").empty());
  CHECK(world.wrong("legacy", 0, world.events()) == Wrong{0, 0});
  CHECK(world.receivers.wrong_values == 0);
  CHECK(world.commits.at({"events", 0}).offset == world.events());
}

TEST_CASE("nothing is parked while no subscriber works") {
  World world;
  world.pass(seconds(30));
  world.receivers.all_are_out = true;
  world.pass(minutes(10));
  const auto parked = world.topics.log("events-retry-10s").size();
  CHECK(parked <= 8 * subscribers().size());  // of the moments before the breakers opened
  world.pass(minutes(10));
  CHECK(world.topics.log("events-retry-10s").size() == parked);
  world.receivers.all_are_out = false;
  world.between = Duration::zero();
  world.pass(hours(1));
  for (const auto& subscriber : subscribers())
    CHECK(world.wrong(subscriber, 0, world.events()) == Wrong{0, 0});
}

TEST_CASE("a pool that is out for hours costs the pool beside it nothing, and gets everything later",
          "[one-thread]") {
  WorldOf<Bulkheads> world;
  world.keys = {"alive", "dead"};
  const auto got = [&](const std::string& key) { return world.receivers.got[key].size(); };
  const auto twice = [&](const std::string& key) {
    const auto& events = world.receivers.got[key];
    return std::count_if(events.begin(), events.end(),
                         [](const auto& event) { return event.second.size() > 1; });
  };
  world.between = milliseconds(100);
  world.pass(seconds(30));
  world.receivers.legacy_is_out = true;
  world.pass(minutes(45), milliseconds(200));
  const auto written = world.written.size();
  CHECK(got("alive") >= written / 2 - 10);
  CHECK(world.longest_uncommitted <= seconds(30));
  CHECK(world.most_bytes <= world.instance->context.memory.lane_bytes / 2);
  CHECK(got("dead") <= 160);
  world.restart();
  CHECK(twice("alive") == 0);
  world.receivers.legacy_is_out = false;
  world.between = Duration::zero();
  world.pass(minutes(25));
  CHECK(got("dead") == written / 2);
  CHECK(twice("alive") + twice("dead") == 0);
  CHECK(world.attempts_in("events-retry-10m") == std::set<std::string>{"0"});
}

TEST_CASE(
    "a parked record that is due is tried, although more than half of the lane's room waits behind it") {
  World world;
  world.instance->context.lanes.max_incomplete = 200;
  world.pass(seconds(30));
  world.receivers.legacy_is_out = true;
  world.between = seconds(1);
  world.pass(minutes(9));
  world.between = Duration::zero();  // only parked records are left to probe with
  world.pass(minutes(20), seconds(1));
  world.receivers.legacy_is_out = false;
  world.pass(minutes(25), seconds(1));
  CHECK(world.wrong("legacy", 0, world.events()) == Wrong{0, 0});
}

TEST_CASE("attempts that were counted before an outage was known are given back to parked records") {
  WorldOf<Bulkheads> world;
  world.keys = {"alive", "dead"};
  world.between = milliseconds(100);
  world.pass(seconds(30));
  world.receivers.legacy_is_out = world.receivers.answer_500 = true;
  world.pass(minutes(2));
  CHECK(world.attempts_in("events-retry-10s") == std::set<std::string>{"0"});
  world.receivers.legacy_is_out = false;
  world.between = Duration::zero();
  world.pass(minutes(15));
  CHECK(world.receivers.got["dead"].size() == world.written.size() / 2);
}

TEST_CASE("a stop or a rebalance during an outage sends the living subscribers nothing again") {
  World world;
  world.pass(seconds(30));
  world.receivers.legacy_is_out = true;
  for (int restarts = 0; restarts < 40; ++restarts) {
    world.pass(milliseconds(900 + 370 * restarts));
    world.restart();
    for (const auto* living : {"audit", "billing", "crm"})
      REQUIRE(world.wrong(living, 0, world.events()).twice == 0);
  }
  world.receivers.legacy_is_out = false;
  world.between = Duration::zero();
  world.pass(hours(1));
  for (const auto& subscriber : subscribers())
    CHECK(world.wrong(subscriber, 0, world.events()) == Wrong{0, 0});
}

TEST_CASE("a stop parks no sub-job of a record of which none has ended, and gives the record back") {
  World world;
  world.pass(seconds(30));
  world.receivers.all_are_out = true;
  world.pass(seconds(5));
  const auto parked = world.topics.log("events-retry-10s").size();
  world.restart();
  CHECK(world.topics.log("events-retry-10s").size() == parked);
  world.receivers.all_are_out = false;
  world.between = Duration::zero();
  world.pass(minutes(2));
  for (const auto& subscriber : subscribers())
    CHECK(world.wrong(subscriber, 0, world.events()) == Wrong{0, 0});
}

TEST_CASE("a crash during an outage repeats for the living subscribers what was not committed") {
  World world;
  world.pass(seconds(30));
  world.receivers.legacy_is_out = true;
  world.pass(minutes(5));
  std::size_t repeated = 0;
  for (int crashes = 1; crashes <= 20; ++crashes) {
    world.pass(seconds(60) + milliseconds(170 * crashes));
    world.kill();
    world.pass(seconds(2));
    const auto now_repeated = world.wrong("audit", 0, world.events()).twice;
    // Of a second, eight events, and the records that have been probes lately.
    CHECK(now_repeated - repeated <= 24);
    repeated = now_repeated;
  }
  world.receivers.legacy_is_out = false;
  world.between = Duration::zero();
  world.pass(hours(1));
  for (const auto& subscriber : subscribers()) CHECK(world.wrong(subscriber, 0, world.events()).missing == 0);
}
