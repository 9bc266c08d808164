// The produce handler against an embedded cluster: what arrives, in which order, and what becomes of what
// does not.
#include "handler/produce/produce_handler.h"

#include <thread>

#include "catch.h"
#include "eventually.h"
#include "handler/registry.h"
#include "handler/run.h"
#include "kafka/group/consumer.h"
#include "mock_cluster.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

using Fault = kafka::MockCluster::Failure;
using Request = kafka::MockCluster::Request;

/// Times that a shipment begins its first record before it sends anything: it looks at the topic and the
/// stop.
constexpr int at_first = 2;

/// A cluster with the topics "orders-out" (4 partitions) and "other".
struct World {
  World() {
    auto started = kafka::MockCluster::start(1);
    REQUIRE(started);
    cluster = std::move(started).value();
    REQUIRE(cluster->create_topic("orders-out", 4));
    REQUIRE(cluster->create_topic("other", 1));
    config.kafka = {{"bootstrap.servers", {cluster->bootstrap(), "", false}},
                    {"group.id", {"g", "", false}},
                    {"reconnect.backoff.max.ms", {"200", "", false}}};
    config.topics = {"orders"};
    produce.topic = "{topic}-out";
    produce.partition = config::ProduceSettings::Partition::keep;
    produce.client["topic.metadata.refresh.interval.ms"] = {"500", "", false};
  }

  std::unique_ptr<Handler> handler() {
    config.handler = produce;
    auto made = make_handler(config);
    REQUIRE(made);
    return std::move(made).value();
  }
  void set(const std::string& key, const std::string& value) { produce.client[key] = {value, "", false}; }

  std::vector<kafka::Record> read(const std::string& topic, std::int32_t partition, std::size_t records) {
    auto consumer = kafka::Consumer::create(config.kafka, {}, [] {});
    REQUIRE(consumer);
    auto queue = (*consumer)->open_queue({topic, partition}, [] {});
    std::vector<kafka::CommittedOffset> from(1);
    from[0].partition = {topic, partition};
    from[0].offset = 0;
    REQUIRE((*consumer)->assign(from));
    std::vector<kafka::Record> result;
    REQUIRE(eventually([&] {
      kafka::Record record;
      std::int64_t offset = 0;
      if (queue->pop(record, offset) != kafka::Pop::record) return false;
      record.detach();
      result.push_back(std::move(record));
      return result.size() == records;
    }));
    queue.reset();
    REQUIRE((*consumer)->unassign({}, true));
    consumer->reset();
    return result;
  }

  std::unique_ptr<kafka::MockCluster> cluster;
  config::Config config;
  config::ProduceSettings produce;
};

std::vector<kafka::RecordData> records_to_produce(int count) {
  std::vector<kafka::RecordData> out;
  for (int i = 0; i < count; ++i) out.push_back(record_data(i, std::to_string(i), "key"));
  return out;
}

kafka::RecordData with_header(const std::string& name, std::optional<std::string> value) {
  auto data = record_data(0, "v");
  data.headers = {{name, std::move(value)}};
  return data;
}

}  // namespace

TEST_CASE("a record is written to its output topic unchanged, with its delivery id") {
  World world;
  const auto handler = world.handler();
  auto data = record_data(7, std::nullopt, "k");
  data.headers = {
      {"a", "1"}, {"Laneway-Delivery-Id", "of/the/service/before"}, {"b", std::nullopt}, {"a", "2"}};
  CHECK(outcome_of(*handler, std::move(data)).verdict == Verdict::done);
  const auto written = world.read("orders-out", 3, 1);
  CHECK(written[0].raw_key() == std::optional<std::string_view>("k"));
  CHECK_FALSE(written[0].raw_value());
  CHECK(written[0].timestamp() == 1767323045678);
  const auto headers = written[0].raw_headers();
  REQUIRE(headers.size() == 4);
  CHECK(headers[0].value == std::optional<std::string_view>("1"));
  CHECK_FALSE(headers[1].value);
  CHECK(headers[2].value == std::optional<std::string_view>("2"));
  CHECK(headers[3].name == "Laneway-Delivery-Id");
  CHECK(headers[3].value == std::optional<std::string_view>("c-1/orders/3/7"));
}

TEST_CASE("key, headers and timestamp are left out on request") {
  World world;
  world.produce.topic = "other";
  world.produce.partition = config::ProduceSettings::Partition::by_key;
  world.produce.keep_key = false;
  world.produce.keep_headers = false;
  world.produce.timestamp = config::ProduceSettings::Timestamp::now;
  const auto handler = world.handler();
  auto data = record_data(7, "v", "k");
  data.headers = {{"a", "1"}};
  data.timestamp = 1000;
  CHECK(outcome_of(*handler, std::move(data)).verdict == Verdict::done);
  const auto written = world.read("other", 0, 1);
  CHECK_FALSE(written[0].raw_key());
  CHECK(written[0].raw_value() == std::optional<std::string_view>("v"));
  CHECK(written[0].raw_headers().empty());
  CHECK(written[0].timestamp() > 1700000000000);
}

TEST_CASE("headers get other names or are left out, and the others are kept") {
  World world;
  world.produce.rename_headers = {
      {"a", "b"}, {"b", "a"}, {"secret", ""}, {"not there", "x"}, {"Laneway-Delivery-Id", "origin"}};
  world.produce.key_header = "secret";
  const auto handler = world.handler();
  auto data = record_data(7, "v", "k");
  data.headers = {{"a", "1"},      {"Laneway-Delivery-Id", "of a service before"},
                  {"c", "2"},      {"b", "3"},
                  {"secret", "4"}, {"a", std::nullopt}};
  CHECK(outcome_of(*handler, std::move(data)).verdict == Verdict::done);
  const auto written = world.read("orders-out", 3, 1);
  CHECK(written[0].raw_key() == std::optional<std::string_view>("4"));  // the record's own name counts
  std::vector<std::string> seen;
  for (const auto& header : written[0].raw_headers())
    seen.push_back(std::string(header.name) + "=" + std::string(header.value.value_or("null")));
  REQUIRE(seen.size() == 6);
  CHECK(seen.back().rfind("Laneway-Delivery-Id=", 0) == 0);
  seen.pop_back();
  CHECK(seen == std::vector<std::string>{"b=1", "origin=of a service before", "c=2", "a=3", "b=null"});
}

TEST_CASE("a header names the topic, among the allowed topics") {
  World world;
  world.produce.topic_header = "to";
  world.produce.topics = {"other"};
  world.produce.partition = config::ProduceSettings::Partition::by_key;
  const auto handler = world.handler();
  CHECK(outcome_of(*handler, with_header("to", "other")).verdict == Verdict::done);
  CHECK(world.read("other", 0, 1).size() == 1);
  const auto stranger = outcome_of(*handler, with_header("to", "orders-out"));
  CHECK(stranger.verdict == Verdict::reject);
  CHECK(stranger.reason.find("handler.produce.topics") != std::string::npos);
  // Without the header, or with a null in it: where the configuration says.
  auto data = with_header("to", std::nullopt);
  CHECK(outcome_of(*handler, std::move(data)).verdict == Verdict::done);
}

TEST_CASE("a text in the value names the topic, among the allowed topics") {
  World world;
  world.produce.topic_field = "/to/topic";
  world.produce.topics = {"other"};
  world.produce.partition = config::ProduceSettings::Partition::by_key;
  const auto to = [](const std::string& topic) { return R"({"to": {"topic": ")" + topic + "\"}}"; };
  {
    const auto handler = world.handler();
    CHECK(outcome_of(*handler, record_data(0, to("other"))).verdict == Verdict::done);
    const auto read = world.read("other", 0, 1);
    REQUIRE(read.size() == 1);
    const auto stranger = outcome_of(*handler, record_data(1, to("orders-out")));
    CHECK(stranger.verdict == Verdict::reject);
    CHECK(stranger.reason.find("handler.produce.topics") != std::string::npos);
    // Where it names none: where the configuration says.
    CHECK(outcome_of(*handler, record_data(2, "no JSON")).verdict == Verdict::done);
  }
  world.produce.topic.clear();
  const auto nowhere = outcome_of(*world.handler(), record_data(3, R"({"to": {}})"));
  CHECK(nowhere.verdict == Verdict::reject);
  CHECK(nowhere.reason.find("no text at /to/topic") != std::string::npos);
}

TEST_CASE("a header gives the key, and a record without the header is rejected") {
  World world;
  world.produce.key_header = "id";
  world.produce.keep_headers = false;
  const auto handler = world.handler();
  auto data = record_data(0, "v", "own");
  data.headers = {{"id", "first"}, {"id", "last"}, {"other", "x"}};
  CHECK(outcome_of(*handler, std::move(data)).verdict == Verdict::done);
  CHECK(world.read("orders-out", 3, 1)[0].raw_key() == std::optional<std::string_view>("last"));
  for (auto without : {record_data(1, "v", "own"), with_header("id", std::nullopt)}) {
    const auto outcome = outcome_of(*handler, std::move(without));
    CHECK(outcome.verdict == Verdict::reject);
    CHECK(outcome.reason == "the record has no header id, which handler.produce.key_header names");
  }
}

TEST_CASE("a text or a whole number in the value is the key, and a record without that value is rejected") {
  World world;
  world.produce.key_field = "/order/id";
  const auto handler = world.handler();
  for (const auto* value : {R"({"order": {"id": "o-1"}})", R"({"order": {"id": 18446744073709551615}})"})
    CHECK(outcome_of(*handler, record_data(0, value, "own")).verdict == Verdict::done);
  const auto written = world.read("orders-out", 3, 2);
  CHECK(written[0].raw_key() == std::optional<std::string_view>("o-1"));
  CHECK(written[1].raw_key() == std::optional<std::string_view>("18446744073709551615"));
  for (const auto* value : {R"({"order": {"id": 1.5}})", R"({"order": {"id": null}})", "{}", "no JSON"}) {
    const auto outcome = outcome_of(*handler, record_data(1, value, "own"));
    CHECK(outcome.verdict == Verdict::reject);
    CHECK(
        outcome.reason ==
        "the record's value has no text or whole number at /order/id, which handler.produce.key_field names");
  }
}

TEST_CASE("a record without the header is rejected if no topic is configured") {
  World world;
  world.produce.topic.clear();
  world.produce.topic_header = "to";
  world.produce.topics = {"other"};
  const auto handler = world.handler();
  CHECK(outcome_of(*handler, record_data(0, "v")).verdict == Verdict::reject);
}

TEST_CASE("the records of a task are sent together, and those of a sequential task one by one") {
  for (const bool sequential : {false, true}) {
    World world;
    // A batch leaves when all five are in it, or with the first.
    world.set("batch.num.messages", "5");
    world.set("linger.ms", sequential ? "0" : "20000");
    const auto handler = world.handler();
    // The first batch that arrives is refused: all of it, or the first record alone.
    world.cluster->fail_next(Request::produce, 1, Fault::invalid_record);
    Run run(records_to_produce(5), sequential);
    handler->handle(run.task());
    const auto& result = run.result();
    if (sequential) {
      REQUIRE(result.failures.size() == 1);
      CHECK(result.failures[0].index == 0);
      CHECK(result.failures[0].outcome.verdict == Verdict::reject);
      CHECK(run.state(1) == ItemState::unanswered);
      CHECK(run.state(4) == ItemState::unanswered);
    } else {
      REQUIRE(result.failures.size() == 5);
      CHECK(result.failures[0].outcome.verdict == Verdict::retry);  // it may have been any of the five
    }
  }
}

TEST_CASE("contradictory client settings are a configuration error") {
  World world;
  world.produce.timeout = seconds(10);
  world.set("linger.ms", "20000");  // longer than a record may take
  world.config.handler = world.produce;
  const auto made = make_handler(world.config);
  REQUIRE_FALSE(made);
  CHECK(made.error().kind == ErrorKind::configuration);
  CHECK(made.error().message.starts_with("handler.produce: "));
  const auto checked = check_handler(world.config);
  REQUIRE_FALSE(checked);
  CHECK(checked.error().message == made.error().message);
}

TEST_CASE("a sequential task writes its records in order") {
  World world;
  world.set("linger.ms", "0");
  const auto handler = world.handler();
  Run run(records_to_produce(20), true);
  handler->handle(run.task());
  CHECK(run.result().done == 20);
  const auto written = world.read("orders-out", 3, 20);
  for (std::size_t i = 0; i < written.size(); ++i)
    CHECK(written[i].raw_value() == std::optional<std::string_view>(std::to_string(i)));
}

TEST_CASE("a sequential task that is recalled ends with the record that is being written") {
  World world;
  world.set("linger.ms", "0");
  const auto handler = world.handler();
  Run run(records_to_produce(5), true);
  run.want_back();
  handler->handle(run.task());
  CHECK(run.result().done == 1);
  CHECK(run.result().failures.empty());
  CHECK(run.state(1) == ItemState::unanswered);
}

TEST_CASE("the brokers' error for a record decides its verdict") {
  World world;
  const auto handler = world.handler();
  const std::vector<std::pair<Fault, Verdict>> cases = {{Fault::too_large, Verdict::reject},
                                                        {Fault::invalid_record, Verdict::reject},
                                                        {Fault::denied, Verdict::unavailable}};
  for (const auto& [failure, verdict] : cases) {
    world.cluster->fail_next(Request::produce, 1, failure);
    const auto outcome = outcome_of(*handler, record_data(0, "v"));
    CHECK(outcome.verdict == verdict);
    CHECK_FALSE(outcome.reason.empty());
  }
  CHECK(eventually([&] { return outcome_of(*handler, record_data(0, "v")).verdict == Verdict::done; }));
  CHECK_FALSE(handler->fatal());
}

TEST_CASE("a record that is too large for the client is rejected") {
  World world;
  world.set("message.max.bytes", "2000");
  const auto handler = world.handler();
  CHECK(outcome_of(*handler, record_data(0, std::string(3000, 'x'))).verdict == Verdict::reject);
}

TEST_CASE("brokers that do not answer are unavailable, and later records are written when they are back") {
  World world;
  world.produce.timeout = seconds(1);
  const auto handler = world.handler();
  REQUIRE(eventually([&] { return outcome_of(*handler, record_data(0, "v")).verdict == Verdict::done; }));
  REQUIRE(world.cluster->stop_broker(1));
  CHECK(outcome_of(*handler, record_data(1, "v")).verdict == Verdict::unavailable);
  REQUIRE(world.cluster->start_broker(1));
  CHECK(eventually([&] { return outcome_of(*handler, record_data(2, "v")).verdict == Verdict::done; }));
}

TEST_CASE("a full client queue delays tasks and fails none") {
  World world;
  world.set("queue.buffering.max.messages", "3");
  const auto handler = world.handler();
  REQUIRE(world.cluster->set_latency(1, 20));
  std::vector<std::unique_ptr<Run>> runs;
  for (int i = 0; i < 10; ++i) runs.push_back(std::make_unique<Run>(records_to_produce(10)));
  for (const auto& run : runs) handler->handle(run->task());
  for (const auto& run : runs) CHECK(run->result().done == 10);
}

TEST_CASE("a stop ends a task without brokers: sent records time out, and others have not started") {
  for (const bool sequential : {false, true}) {
    World world;
    world.set("queue.buffering.max.messages", "3");
    const auto handler = world.handler();
    REQUIRE(world.cluster->stop_broker(1));
    Run run(records_to_produce(5), sequential);
    Run behind(records_to_produce(1));
    handler->handle(run.task());
    handler->handle(behind.task());
    // The fourth is tried when three are sent; what is behind a sequential task when its first is.
    REQUIRE(eventually(
        [&] { return sequential ? behind.times_begun() > at_first : run.times_begun() > at_first + 3; }));
    CHECK_FALSE(run.ended());
    run.stop();
    const auto& result = run.result();
    CHECK(result.done == 0);
    for (const auto& failure : result.failures) {
      CHECK(failure.outcome.verdict == Verdict::retry);
      CHECK(failure.outcome.cause == Cause::timeout);
    }
    CHECK(result.failures.size() == (sequential ? 1 : 3));
    CHECK(run.state(4) == ItemState::unanswered);
    behind.stop();
    CHECK(behind.result().done == 0);
  }
}

TEST_CASE("a transaction fails if a record that waits for room is stopped behind one that was sent") {
  World world;
  world.produce.transactional = true;
  world.set("queue.buffering.max.messages", "3");
  const auto handler = world.handler();
  auto& transaction = *handler->transaction();
  REQUIRE(eventually([&] { return transaction.state() == kafka::Transaction::State::open; }));
  REQUIRE(world.cluster->stop_broker(1));
  Run run(records_to_produce(5));
  handler->handle(run.task());
  REQUIRE(eventually(
      [&] { return run.times_begun() > at_first + 3; }));  // three are sent, the fourth has no room
  CHECK_FALSE(transaction.failure());
  run.stop();
  CHECK(run.result().failures.size() == 3);
  CHECK(transaction.failure());
}

TEST_CASE("a handler that ends answers every task") {
  World world;
  std::vector<std::unique_ptr<Run>> runs;
  {
    const auto handler = world.handler();
    REQUIRE(world.cluster->stop_broker(1));
    for (int i = 0; i < 5; ++i) {
      runs.push_back(std::make_unique<Run>(records_to_produce(10), i % 2 == 0));
      handler->handle(runs.back()->task());
    }
  }
  for (const auto& run : runs) {
    REQUIRE(run->ended());
    CHECK(run->result().done == 0);
  }
}
