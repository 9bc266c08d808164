// Records that fail, and a downstream that is out, in a whole service on an embedded cluster.
#include <atomic>
#include <set>

#include "captured_log.h"
#include "catch.h"
#include "delivery/dead_letter/dead_letter_read.h"
#include "kafka/admin/topic_reader.h"
#include "service/support.h"

using namespace laneway;
using namespace laneway::service;
using handler::Outcome;

namespace {

struct Letter {
  delivery::DeadLetter description;
  std::int32_t partition = -1;
  std::string key, value;
  std::int64_t timestamp = -1;
};

/// The letters in a dead-letter topic.
std::vector<Letter> letters_in(World& world, const std::string& topic, std::int32_t partitions) {
  auto reader = kafka::TopicReader::open(world.config.kafka);
  REQUIRE(reader);
  std::vector<Letter> letters;
  for (std::int32_t p = 0; p < partitions; ++p) {
    const auto span = (*reader)->span({topic, p}, patience);
    REQUIRE(span);
    REQUIRE((*reader)->start(*span));
    for (;;) {
      auto next = (*reader)->next(Deadline::in(patience));
      REQUIRE(next);
      if (!next->record) break;
      delivery::Headers headers;
      for (const auto& header : next->record.raw_headers())
        headers.push_back({std::string(header.name), std::string(header.value.value_or(""))});
      const auto description = delivery::read_dead_letter(headers);
      REQUIRE(description);
      letters.push_back({*description, p, std::string(next->record.raw_key().value_or("")),
                         std::string(next->record.raw_value().value_or("")), next->record.timestamp()});
    }
  }
  return letters;
}

struct FailingWorld : World {
  FailingWorld() : World(2) {
    REQUIRE(cluster->create_topic("orders-dlt", 2));
    config.dead_letter.topic = "{topic}-dlt";
    config.retry.attempts = 2;
  }
  std::uint64_t dead_letters(const Service& service) {
    return static_cast<std::uint64_t>(metric(service, "dead_letters_total"));
  }
};

}  // namespace

TEST_CASE("a record that can never work is in the dead-letter topic when its offset is committed") {
  for (const auto family : {config::DeadLetterHeaders::spring, config::DeadLetterHeaders::connect}) {
    FailingWorld world;
    world.config.dead_letter.headers = family;
    world.config.unnamed.breaker.failures = 0;  // the last twenty records may fail in a row, as in an outage
    world.produce(100);
    const auto service = world.started([](const handler::Attempt& attempt) {
      if (attempt.record.offset() % 10 == 0) return Outcome::reject("of no use");
      if (attempt.record.offset() % 10 == 1) return Outcome::retry("not now");
      return Outcome::done();
    });
    CHECK(eventually([&] { return world.committed_offsets() == world.ends(); }));
    CHECK(world.history.distinct_done() == 160);
    CHECK(world.dead_letters(*service) == 40);
    stop_cleanly(*service);
    std::set<Place> origins;
    for (const auto& [letter, partition, key, value, timestamp] : letters_in(world, "orders-dlt", 2)) {
      origins.insert({letter.partition, letter.offset});
      CHECK(letter.topic == "orders");
      CHECK(letter.partition == partition);
      CHECK(value == "value");
      const bool rejected = letter.offset % 10 == 0;
      CHECK(letter.text == (rejected ? "of no use" : "not now"));
      CHECK(letter.attempts == (rejected ? 1 : 2));
      CHECK(letter.reason == (rejected ? delivery::DeadLetterReason::rejected
                                       : delivery::DeadLetterReason::attempts_exhausted));
    }
    CHECK(origins.size() == 40);
  }
}

TEST_CASE("the dead letter of an old record has the time of writing, and the old timestamp in a header") {
  constexpr std::int64_t year_2020 = 1'577'836'800'000;
  for (const auto family : {config::DeadLetterHeaders::spring, config::DeadLetterHeaders::connect}) {
    FailingWorld world;
    world.config.dead_letter.headers = family;
    const auto before = wall_clock_ms();
    const auto service = world.started([](const handler::Attempt& attempt) {
      return attempt.record.timestamp() == year_2020 ? Outcome::reject("old")
                                                     : Outcome::reject("not as it was");
    });
    auto producer = kafka::Producer::create({.client = kafka::producer_client(world.config.kafka)});
    REQUIRE(producer);
    const std::string topic = "orders";
    REQUIRE((*producer)
                ->send({.topic = topic, .partition = 0, .value = "value", .timestamp = year_2020}, nullptr)
                .sent == kafka::Sent::accepted);
    REQUIRE((*producer)->flush(Deadline::in(patience)));
    CHECK(eventually([&] { return world.dead_letters(*service) == 1; }));
    stop_cleanly(*service);
    const auto letters = letters_in(world, "orders-dlt", 2);
    REQUIRE(letters.size() == 1);
    CHECK(letters.front().timestamp >= before);
    CHECK(letters.front().description.timestamp == year_2020);
    CHECK(letters.front().description.text == "old");
  }
}

TEST_CASE("an outage opens the breaker, gives up nothing, and ends with every record done once") {
  FailingWorld world;
  world.config.unnamed.breaker.probe = milliseconds(100);
  std::atomic<bool> out{true};
  std::atomic<int> asked{0};
  world.produce(300);
  const auto service = world.started([&](const handler::Attempt& attempt) {
    if (attempt.number > 1) return Outcome::reject("an attempt was used up");
    if (!out) return Outcome::done();
    ++asked;
    return Outcome::unavailable("out");
  });
  CHECK(eventually([&] { return metric(*service, "breaker_state") > 0; }));
  CHECK(eventually([&] { return asked > 12; }));  // it keeps probing
  CHECK(codes(*service) == std::vector<std::string>{"breaker_open"});
  out = false;
  CHECK(eventually([&] { return world.committed_offsets() == world.ends(); }));
  CHECK(world.each_done_once());
  CHECK(world.dead_letters(*service) == 0);
  CHECK(metric(*service, "breaker_state") == 0);
  CHECK(service->readiness().ready());
  stop_cleanly(*service);
}

TEST_CASE("a lane's last error is past after an outage, and present during the outage") {
  FailingWorld world;
  world.config.unnamed.breaker.probe = milliseconds(100);
  std::atomic<bool> out{true};
  world.produce(100);
  const auto service = world.started(
      [&](const handler::Attempt&) { return out ? Outcome::unavailable("out") : Outcome::done(); });
  std::thread waiting([&] { (void)service->wait(); });
  // The breaker may open before each lane has a failed record.
  const auto errors = [&](bool over) {
    int all = 0, wanted = 0;
    for (const auto& lane : service->status().lanes)
      if (lane.detail.last_error) ++all, wanted += lane.error_is_over == over ? 1 : 0;
    return all > 0 && all == wanted;
  };
  CHECK(eventually([&] { return errors(false); }));
  out = false;
  CHECK(eventually([&] { return errors(true); }));
  service->stop();
  waiting.join();
}

TEST_CASE("dead letters beyond max_rate wait, and so do their offsets") {
  FailingWorld world;
  world.config.dead_letter.max_rate = 1;  // 60 rejections at once
  world.produce(100);
  std::atomic<bool> wrong{true};
  std::atomic<int> again{0};
  const auto service = world.started([&](const handler::Attempt& attempt) {
    if (attempt.number > 1) ++again;
    return wrong ? Outcome::reject("a stream gone wrong") : Outcome::done();
  });
  CHECK(eventually([&] { return world.dead_letters(*service) >= 60 && again > 50; }));
  CHECK(world.dead_letters(*service) < 100);
  std::int64_t committed = 0;
  for (const auto offset : world.committed_offsets()) committed += std::max<std::int64_t>(offset, 0);
  CHECK(committed < 100);
  wrong = false;  // the withheld records are done now, and are no dead letters
  CHECK(eventually([&] { return world.committed_offsets() == world.ends(); }));
  CHECK(world.dead_letters(*service) < 100);
  stop_cleanly(*service);
}

TEST_CASE("a dead-letter topic that is missing and must not be created ends the start") {
  World world(1);
  world.config.dead_letter.topic = "nowhere";
  world.config.dead_letter.create = false;
  world.config.start_deadline = seconds(2);
  // On a busy machine, the last request before the deadline may have too little time for its answer.
  CHECK(eventually([&] {
    const auto started = world.service()->start();
    return !started &&
           started.error().text().find("dead-letter topic nowhere does not exist") != std::string::npos;
  }));
}

TEST_CASE("a start checks all dead-letter topics at once, whatever their number and the latency") {
  World world(1);
  world.config.dead_letter.topic = "{topic}-dlt";
  world.config.dead_letter.create = false;
  world.config.topics.clear();
  for (int i = 0; i < 40; ++i) {
    const auto& topic = world.config.topics.emplace_back("orders-" + std::to_string(i));
    REQUIRE(world.cluster->create_topic(topic, 1));
    REQUIRE(world.cluster->create_topic(topic + "-dlt", 1));
  }
  world.config.start_deadline = patience;
  REQUIRE(world.cluster->set_latency(1, 50));  // so 40 questions take twice as long as the start gives them
  const auto service = world.started();
  CHECK(eventually([&] { return service->snapshot().size() == 40; }));
  stop_cleanly(*service);
}

TEST_CASE("a service does not consume its own dead letters, whatever its pattern and their time") {
  CapturedLog log;
  FailingWorld world;
  world.config.topics = {"^orders.*"};
  world.config.kafka["topic.metadata.refresh.interval.ms"] = {"300", "", false};
  // An embedded coordinator waits nearly as long for the members at a rebalance.
  world.config.kafka["session.timeout.ms"] = {"4000", "", false};
  world.config.kafka["heartbeat.interval.ms"] = {"300", "", false};
  world.produce(10);
  const auto service = world.started([](const handler::Attempt&) { return Outcome::reject("of no use"); });
  CHECK(log.lines({"the pattern in topics leaves topics out", "orders-dlt (dead_letter.topic)"}) == 1);
  CHECK(eventually([&] { return world.dead_letters(*service) == 20; }));
  REQUIRE(world.cluster->create_topic("orders-dlt-dlt", 1));
  REQUIRE(world.cluster->create_topic("orders-eu", 1));  // found later than the other one could have been
  CHECK(eventually([&] { return service->snapshot().size() == 3; }));
  std::set<std::string> consumed;
  for (const auto& lane : service->snapshot()) consumed.insert(lane.topic);
  CHECK(consumed == std::set<std::string>{"orders", "orders-eu"});
  CHECK(service->status().totals.dead_letters == 20);
  stop_cleanly(*service);
}

TEST_CASE("a stream in which every record fails holds, and an operator can declare the records bad") {
  FailingWorld world;
  world.config.unnamed.breaker.probe = milliseconds(50);
  world.produce(20);
  Gate breaker_open;  // otherwise one record alone could use up its attempts before another record has failed
  std::atomic<int> failed{0};
  const auto service = world.started([&](const handler::Attempt& attempt) {
    if (attempt.number > 1) breaker_open.wait();
    ++failed;
    return Outcome::retry("HTTP 500");
  });
  CHECK(eventually([&] { return codes(*service) == std::vector<std::string>{"breaker_open"}; }));
  breaker_open.open();
  const auto before = failed.load();
  CHECK(eventually([&] { return failed > before + 40; }));  // laneway probes again and again
  CHECK(world.dead_letters(*service) == 0);
  const auto reasons = service->readiness().reasons;
  REQUIRE(reasons.size() == 1);
  CHECK(reasons.front().text.find("fails for 100 % of calls: HTTP 500") != std::string::npos);
  CHECK(reasons.front().text.find("no call has succeeded since the start") != std::string::npos);
  auto wanted = world.config;
  wanted.unnamed.breaker.failures = 0;
  REQUIRE(service->change(wanted));
  CHECK(eventually([&] { return world.committed_offsets() == world.ends(); }));
  CHECK(world.dead_letters(*service) == 40);
  CHECK(service->readiness().ready());
  stop_cleanly(*service);
}

namespace {

/// Waits while other records succeed: without them, bad records would look like an outage.
template <class Condition>
bool eventually_among_others(World& world, Condition condition) {
  return eventually([&] {
    world.produce(1);
    return condition();
  });
}

}  // namespace

TEST_CASE("a record that fails among others moves to its retry topics, and its partition goes on") {
  FailingWorld world;
  REQUIRE(world.cluster->create_topic("orders-retry-300ms", 2));
  REQUIRE(world.cluster->create_topic("orders-retry-1s", 2));
  world.config.retry.topics = {{"300ms", milliseconds(300)}, {"1s", seconds(1)}};
  world.config.unnamed.breaker.probe = milliseconds(50);
  world.produce(50);
  Gate gate;
  const auto service = world.started([&](const handler::Attempt& attempt) {
    const auto offset = attempt.record.offset();
    if (attempt.record.topic() != "orders" || !attempt.record.headers().empty())
      return Outcome::reject("not as it was at its origin");
    if (offset >= 50 || offset % 10 != 0) return Outcome::done();
    if (attempt.number > 2) gate.wait();
    if (offset == 0) return Outcome::retry("never");
    return attempt.number < 4 ? Outcome::retry("not now") : Outcome::done();
  });
  // The records are in their first retry topic, and cannot be done there yet.
  CHECK(eventually([&] { return world.committed_offsets() == world.ends(); }));
  CHECK(world.history.distinct_done() == 90);
  gate.open();
  CHECK(eventually_among_others(world, [&] {
    return metric(*service, "retry_topics_total") == 20 && world.dead_letters(*service) == 2;
  }));
  CHECK(eventually([&] { return world.history.distinct_done() == world.produced() - 2; }));
  stop_cleanly(*service);
  CHECK(world.history.done_in_all() == world.produced() - 2);
  std::set<Place> origins;
  for (const auto& [letter, partition, key, value, timestamp] : letters_in(world, "orders-dlt", 2)) {
    origins.insert({letter.partition, letter.offset});
    CHECK(letter.topic == "orders");
    CHECK(letter.partition == partition);
    CHECK(letter.attempts == 4);
    CHECK(letter.text == "never");
  }
  CHECK(origins == std::set<Place>{{0, 0}, {1, 0}});
}

TEST_CASE("a foreign record in a retry topic ends in the dead-letter topic of its source") {
  FailingWorld world;
  REQUIRE(world.cluster->create_topic("orders-retry-300ms", 2));
  world.config.retry.topics = {{"300ms", milliseconds(300)}};
  world.config.unnamed.breaker.probe = milliseconds(50);
  world.produce(5, "orders-retry-300ms");
  const auto service = world.started([](const handler::Attempt& attempt) {
    return attempt.record.topic() == "orders" ? Outcome::done() : Outcome::retry("no");
  });
  CHECK(eventually_among_others(world, [&] { return world.dead_letters(*service) == 10; }));
  CHECK(eventually([&] { return world.each_done_once(); }));  // each in its own topic
  stop_cleanly(*service);
  for (const auto& [letter, partition, key, value, timestamp] : letters_in(world, "orders-dlt", 2)) {
    CHECK(letter.topic == "orders-retry-300ms");
    CHECK(letter.attempts == 1);
  }
}
