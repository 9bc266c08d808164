// A pool with limits for each subscriber whose workers are used up by all of them together, in virtual time.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lane/stage/parked_topics.h"
#include "lane/stage/slow_subscriber.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

constexpr Duration a_call = milliseconds(20);

/// Events come for many subscribers, and for a pool of orders beside theirs.
struct BusyPool {
  /// `each_workers`: config::Each::workers.
  explicit BusyPool(std::uint32_t each_workers) {
    each.by = {config::Selector::Kind::key, ""};
    each.workers = each_workers;
    each.longest_wait = seconds(10);
    limits.emplace("deliver",
                   DownstreamRules{.breaker = {.failures = 5, .window = seconds(30), .probe = seconds(5)}},
                   each);
    instance.context.forward = &forward;
    add("deliver", deliver).each = &*limits;
    instance.context.stages.back().settings.each = each;
    add("orders", orders);
    route.by = {config::Selector::Kind::key, ""};
    route.rows = {{"order", false, "orders"}};
    route.otherwise = "deliver";
    router.emplace(route, std::vector<std::string>{"deliver", "orders"});
    instance.context.router = &*router;
  }
  ~BusyPool() {
    for (; deliver.running() + orders.running() > 0; now += a_call)
      for (auto* work : {&deliver, &orders}) work->answer();
  }
  BusyPool(const BusyPool&) = delete;
  StageContext& add(const std::string& name, handler::Handler& work) {
    auto& pool = instance.context.stages.emplace_back();
    pool.settings.name = name;
    pool.settings.workers = 8;
    pool.settings.queue = 64;
    pool.handler = &work;
    pool.downstream = &downstream;
    return pool;
  }
  /// So many records come a second.
  void pass(Duration time, std::size_t to_subscribers, std::size_t to_orders) {
    for (const auto end = now + time; now < end;) {
      now += milliseconds(5);
      write(to_subscribers, sent_to_subscribers,
            [this] { return "subscriber " + std::to_string(++next_ % subscribers); });
      write(to_orders, sent_to_orders, [] { return "order"; });
      for (auto* work : {&deliver, &orders}) work->answer();
      instance.turn();
      if (now < next_second_) continue;
      next_second_ = now + seconds(1);
      instance.settle();
      instance.commit();
    }
  }
  template <class Key>
  void write(std::size_t per_second, std::size_t& sent, Key key) {
    const auto due = static_cast<std::size_t>((now - begun) / milliseconds(5)) * per_second / 200;
    for (; sent < due; ++sent) {
      kafka::RecordData record;
      record.key = key();
      topics.write({"events", 0}, std::move(record));
    }
  }
  std::size_t parked() { return topics.log("events-retry-10s").size(); }

  static constexpr std::size_t subscribers = 50;
  const CapturedLog log;
  TimePoint now = SteadyClock::now();
  const TimePoint begun = now;
  const VirtualClock clock{now};
  TimedHandler::Fails never = [](const auto&) { return false; };
  TimedHandler deliver{now, a_call, never};
  TimedHandler orders{now, a_call, never};
  std::size_t letters = 0;
  InstantHandler forward{[this](const handler::Attempt&) {
    ++letters;
    return handler::Outcome::done();
  }};
  config::Each each;
  Downstream downstream{"none", {.breaker = {.failures = 0}}};
  std::optional<KeyedLimits> limits;
  config::RouteSettings route;
  std::optional<Router> router;
  ParkedTopics topics;
  ParkingInstance::Commits commits;
  std::size_t sent_to_subscribers = 0;
  std::size_t sent_to_orders = 0;
  std::size_t next_ = 0;
  TimePoint next_second_ = now;
  ParkingInstance instance{topics, now};
};

}  // namespace

TEST_CASE("a pool that gets twice what its workers can do gives nothing up") {
  BusyPool pool(GENERATE(0, 4));
  pool.instance.context.stages.front().settings.queue = 256;  // all places of all subscribers fit into it
  pool.instance.start(pool.commits);
  pool.pass(seconds(60), 800, 0);  // 8 workers and 20 ms are 400 a second
  CHECK(pool.letters == 0);
  CHECK(pool.deliver.calls.size() >= 400 * 55);
}

TEST_CASE("a pool that many subscribers fill costs the pool beside it nothing") {
  BusyPool pool(GENERATE(0, 4));
  pool.instance.context.lanes.max_incomplete = 1000;
  pool.instance.start(pool.commits);
  pool.pass(seconds(60), 800, 40);
  CHECK(pool.letters == 0);
  CHECK(pool.parked() > 0);
  CHECK(pool.orders.calls.size() >= 40 * 60 * 98 / 100);
}
