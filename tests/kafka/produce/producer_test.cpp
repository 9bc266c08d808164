#include "kafka/produce/producer.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/mutex.h"
#include "catch.h"
#include "eventually.h"
#include "kafka/group/consumer.h"
#include "kafka/produce/delivery_error.h"
#include "mock_cluster.h"

using namespace laneway;
using namespace laneway::kafka;

namespace {

const std::string orders = "orders";

class Answers final : public DeliverySink {
 public:
  void delivered(const Delivery& delivery) noexcept override {
    MutexLock lock(mutex_);
    all_.push_back(delivery);
  }
  std::vector<Delivery> all() const {
    MutexLock lock(mutex_);
    return all_;
  }
  std::size_t count(DeliveryStatus status) const {
    const auto answers = all();
    return static_cast<std::size_t>(std::count_if(
        answers.begin(), answers.end(), [&](const Delivery& answer) { return answer.status == status; }));
  }

 private:
  mutable Mutex mutex_;
  std::vector<Delivery> all_ GUARDED_BY(mutex_);
};

struct World {
  explicit World(int partitions = 1) {
    auto started = MockCluster::start(1);
    REQUIRE(started);
    cluster = std::move(started).value();
    REQUIRE(cluster->create_topic(orders, partitions));
    client = {{"bootstrap.servers", {cluster->bootstrap(), "", false}}};
  }

  std::unique_ptr<Producer> producer(ClientSettings overrides = {}, Duration timeout = patience,
                                     std::function<void()> on_turn = {}) const {
    auto made = Producer::create(
        {.client = producer_client(client, overrides), .delivery_timeout = timeout, .on_turn = on_turn});
    REQUIRE(made);
    return std::move(made).value();
  }

  /// The first `records` of partition 0.
  std::vector<Record> read(std::size_t records) const {
    auto settings = client;
    settings["group.id"] = {"readers", "", false};
    auto consumer = Consumer::create(settings, {}, [] {});
    REQUIRE(consumer);
    auto queue = (*consumer)->open_queue({orders, 0}, [] {});
    std::vector<CommittedOffset> from(1);
    from[0].partition.topic = orders;
    from[0].offset = 0;
    REQUIRE((*consumer)->assign(from));
    std::vector<Record> result;
    REQUIRE(eventually([&] {
      Record record;
      std::int64_t offset = 0;
      if (queue->pop(record, offset) != Pop::record) return false;
      record.detach();
      result.push_back(std::move(record));
      return result.size() == records;
    }));
    queue.reset();
    REQUIRE((*consumer)->unassign({}, true));
    consumer->reset();
    return result;
  }

  std::unique_ptr<MockCluster> cluster;
  ClientSettings client;
};

SendResult send(Producer& producer, Answers& answers, std::string_view value) {
  return producer.send({.topic = orders, .partition = 0, .value = value}, &answers);
}

ClientSettings setting(const std::string& key, const std::string& value) {
  return {{key, {value, "a test", false}}};
}

}  // namespace

TEST_CASE("a record arrives as it was sent, nulls, empty and binary fields included") {
  const World world;
  Answers answers;
  const std::string binary("a\0b\xff", 4);
  {
    const auto producer = world.producer();
    const std::vector<Header> headers = {
        {"first", "1"}, {"null", std::nullopt}, {"binary", binary}, {"empty", ""}, {"first", "2"}};
    REQUIRE(producer
                ->send({.topic = orders,
                        .partition = 0,
                        .key = binary,
                        .value = std::nullopt,
                        .headers = headers,
                        .timestamp = 1234567890123},
                       &answers)
                .sent == Sent::accepted);
    REQUIRE(producer->send({.topic = orders, .partition = 0, .key = "", .value = ""}, &answers).sent ==
            Sent::accepted);
    REQUIRE(producer->send({.topic = orders, .partition = 0, .value = binary}, nullptr).sent ==
            Sent::accepted);
    REQUIRE(producer->flush(Deadline::in(patience)));
    CHECK(producer->acknowledged() == 3);
  }
  CHECK(answers.count(DeliveryStatus::acknowledged) == 2);
  CHECK(answers.all().at(1).offset == 1);

  const auto records = world.read(3);
  CHECK(records[0].raw_key() == std::optional<std::string_view>(binary));
  CHECK_FALSE(records[0].raw_value());
  CHECK(records[0].timestamp() == 1234567890123);
  const auto headers = records[0].raw_headers();
  REQUIRE(headers.size() == 5);
  CHECK(headers[0].name == "first");
  CHECK_FALSE(headers[1].value);
  CHECK(headers[2].value == std::optional<std::string_view>(binary));
  CHECK(headers[3].value == std::optional<std::string_view>(""));
  CHECK(headers[4].value == std::optional<std::string_view>("2"));
  CHECK(records[1].raw_key() == std::optional<std::string_view>(""));
  CHECK(records[1].raw_value() == std::optional<std::string_view>(""));
  CHECK_FALSE(records[2].raw_key());
  CHECK(records[2].raw_value() == std::optional<std::string_view>(binary));
}

TEST_CASE("records go to the partition of their key, as Java's client chooses it") {
  const World world(32);
  Answers answers;
  const auto producer = world.producer();
  for (const char* key : {"foobar", "21"})
    REQUIRE(producer->send({.topic = orders, .key = key, .value = "v"}, &answers).sent == Sent::accepted);
  REQUIRE(producer->flush(Deadline::in(patience)));
  const auto all = answers.all();
  REQUIRE(all.size() == 2);
  // Kafka's UtilsTest: murmur2("foobar") = -790332482, murmur2("21") = -973932308; positive, modulo 32.
  std::vector<std::int32_t> partitions = {all[0].partition, all[1].partition};
  std::sort(partitions.begin(), partitions.end());
  CHECK(partitions ==
        std::vector<std::int32_t>{(-973932308 & 0x7fffffff) % 32, (-790332482 & 0x7fffffff) % 32});
}

TEST_CASE("a full queue accepts nothing until answers have come") {
  const World world;
  Answers answers;
  std::atomic<int> turns{0};
  const auto producer =
      world.producer(setting("queue.buffering.max.messages", "5"), patience, [&] { ++turns; });
  REQUIRE(world.cluster->set_latency(1, 50));
  std::size_t accepted = 0;
  while (send(*producer, answers, "v").sent == Sent::accepted) ++accepted;
  CHECK(accepted >= 5);
  REQUIRE(eventually([&] { return turns > 2; }));
  REQUIRE(eventually([&] { return send(*producer, answers, "v").sent == Sent::accepted; }));
  REQUIRE(producer->flush(Deadline::in(patience)));
  CHECK(answers.count(DeliveryStatus::acknowledged) == accepted + 1);
  CHECK(answers.all().size() == accepted + 1);
}

TEST_CASE("a record whose request is refused is written again, before later records") {
  const World world;
  Answers answers;
  // Each in a request of its own.
  const auto producer = world.producer(setting("batch.num.messages", "1"));
  REQUIRE(send(*producer, answers, "before").sent == Sent::accepted);
  REQUIRE(producer->flush(Deadline::in(patience)));
  REQUIRE(world.cluster->set_latency(1, 300));  // the second may go while the first is on its way
  world.cluster->fail_next(MockCluster::Request::produce, 1, MockCluster::Failure::moved);
  REQUIRE(send(*producer, answers, "first").sent == Sent::accepted);
  REQUIRE(send(*producer, answers, "second").sent == Sent::accepted);
  REQUIRE(producer->flush(Deadline::in(patience)));
  CHECK(answers.count(DeliveryStatus::acknowledged) == 3);
  REQUIRE(world.cluster->set_latency(1, 0));
  const auto records = world.read(3);
  CHECK(records[1].raw_value() == "first");
  CHECK(records[2].raw_value() == "second");
}

TEST_CASE("records that no broker acknowledges are unreachable, and the producer goes on afterwards") {
  const World world;
  Answers answers;
  const auto producer = world.producer(setting("reconnect.backoff.max.ms", "500"), seconds(1));
  const auto one_is_acknowledged = [&] {
    send(*producer, answers, "v");
    return producer->flush(Deadline::in(patience)) &&
           answers.all().back().status == DeliveryStatus::acknowledged;
  };
  REQUIRE(eventually(one_is_acknowledged));
  const auto answered = answers.all().size();
  const auto failed = producer->failed();
  REQUIRE(world.cluster->stop_broker(1));
  REQUIRE(send(*producer, answers, "v").sent == Sent::accepted);
  REQUIRE(eventually([&] { return answers.all().size() == answered + 1; }));
  CHECK(answers.all().back().status == DeliveryStatus::unreachable);
  CHECK_FALSE(answers.all().back().error.empty());
  CHECK(producer->failed() == failed + 1);
  REQUIRE(world.cluster->start_broker(1));
  REQUIRE(eventually(one_is_acknowledged));
}

TEST_CASE("a producer whose client fails fatally goes on with a new client") {
  const World world;
  Answers answers;
  const auto producer = world.producer();
  for (int failures = 0; failures < 2; ++failures) {
    world.cluster->fail_next(MockCluster::Request::produce, 1, MockCluster::Failure::out_of_order);
    const auto answered = answers.all().size();
    REQUIRE(eventually([&] { return send(*producer, answers, "v").sent == Sent::accepted; }));
    REQUIRE(eventually([&] { return answers.all().size() > answered; }));
    CHECK(answers.all().back().status == DeliveryStatus::unreachable);
    CHECK(answers.all().size() == answered + 1);
  }
  REQUIRE(eventually([&] {
    const auto result = send(*producer, answers, "v");
    if (result.sent == Sent::refused) CHECK(result.refusal.status == DeliveryStatus::unreachable);
    return result.sent == Sent::accepted;
  }));
  REQUIRE(producer->flush(Deadline::in(patience)));
  CHECK(answers.all().back().status == DeliveryStatus::acknowledged);
  CHECK(producer->renewals().count(Renewal::failed) == 2);
}

TEST_CASE("a producer that ends answers all unanswered records first") {
  const World world;
  Answers answers;
  {
    const auto producer = world.producer();
    REQUIRE(send(*producer, answers, "v").sent == Sent::accepted);
    REQUIRE(producer->flush(Deadline::in(patience)));
    REQUIRE(world.cluster->stop_broker(1));
    for (int i = 0; i < 100; ++i) REQUIRE(send(*producer, answers, "v").sent == Sent::accepted);
    CHECK_FALSE(producer->flush(Deadline::in(milliseconds(10))));
  }
  CHECK(answers.all().size() == 101);
  CHECK(answers.count(DeliveryStatus::unreachable) == 100);
}

TEST_CASE("a record above the client's limit is refused at once as too large") {
  const World world;
  Answers answers;
  const auto producer = world.producer(setting("message.max.bytes", "2000"));
  const auto result = send(*producer, answers, std::string(3000, 'x'));
  CHECK(result.sent == Sent::refused);
  CHECK(result.refusal.status == DeliveryStatus::too_large);
  REQUIRE(producer->flush(Deadline::in(patience)));
  CHECK(answers.all().empty());
}

TEST_CASE("an error for a batch is the record's own only if the batch has one record") {
  const World world;
  struct Case {
    MockCluster::Failure failure;
    DeliveryStatus alone;
    DeliveryStatus together;
  };
  const std::vector<Case> cases = {
      {MockCluster::Failure::too_large, DeliveryStatus::too_large, DeliveryStatus::batch_refused},
      {MockCluster::Failure::invalid_record, DeliveryStatus::invalid, DeliveryStatus::batch_refused},
      {MockCluster::Failure::denied, DeliveryStatus::denied, DeliveryStatus::denied}};
  for (const auto& [failure, alone, together] : cases)
    for (const std::size_t records : {std::size_t{1}, std::size_t{3}}) {
      Answers answers;
      // Nothing is sent before flush: the records are one batch.
      const auto producer = world.producer(setting("linger.ms", "50000"));
      world.cluster->fail_next(MockCluster::Request::produce, 1, failure);
      for (std::size_t i = 0; i < records; ++i) REQUIRE(send(*producer, answers, "v").sent == Sent::accepted);
      REQUIRE(producer->flush(Deadline::in(patience)));
      CHECK(answers.count(records == 1 ? alone : together) == records);
    }
}

TEST_CASE("a record that was refused for another record of its batch counts as refused with the batch") {
  const auto different_record = static_cast<rd_kafka_resp_err_t>(-138);  // from librdkafka 2.4.0 on
  CHECK(failed_delivery(different_record, "w", false, 0).status == DeliveryStatus::batch_refused);
}

TEST_CASE("the reason of a record that is not written begins with the cause") {
  const auto error = [](const char* words) {
    return failed_delivery(RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, words, true, 0).error;
  };
  CHECK(error("Local: Unknown partition") == "Unknown partition");
  CHECK(error("Failed to enqueue message: Local: Unknown topic") == "Unknown topic");
  CHECK(error("Broker: Not enough in-sync replicas") == "Not enough in-sync replicas");
  CHECK(error("Message timed out: Local: Host resolution failure") ==
        "Message timed out: Local: Host resolution failure");
}

TEST_CASE("a record that a broker refuses as invalid gets the possible causes of its error") {
  const auto error = [](rd_kafka_resp_err_t code) {
    return failed_delivery(code, rd_kafka_err2str(code), true, 0).error;
  };
  CHECK(error(RD_KAFKA_RESP_ERR_INVALID_RECORD) ==
        "Broker failed to validate record (the topic is compacted and the record has no key, or the record's "
        "timestamp is outside the topic's limits; see cleanup.policy and message.timestamp.before.max.ms of "
        "the topic)");
  CHECK(error(RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP) ==
        "Invalid timestamp (the record's timestamp is outside the topic's limits; see "
        "message.timestamp.before.max.ms and message.timestamp.after.max.ms of the topic)");
}

TEST_CASE("a record for a missing partition is reported as one for an unknown topic") {
  const World world;
  Answers answers;
  const auto producer = world.producer(setting("topic.metadata.propagation.max.ms", "500"));
  const auto result = producer->send({.topic = orders, .partition = 7, .value = "v"}, &answers);
  if (result.sent == Sent::refused)
    CHECK(result.refusal.status == DeliveryStatus::unknown_topic);
  else
    REQUIRE(eventually([&] { return answers.count(DeliveryStatus::unknown_topic) == 1; }));
}

TEST_CASE("a producer uses a consumer's connection settings, without settings that only consumers have") {
  const ClientSettings consumer = {{"bootstrap.servers", {"a:1", "", false}},
                                   {"group.id", {"g", "", false}},
                                   {"sasl.username", {"u", "", false}},
                                   {"fetch.min.bytes", {"1", "", false}}};
  const auto client = producer_client(consumer, setting("client.id", "writer"));
  CHECK(client.size() == 3);
  CHECK(client.at("bootstrap.servers").value == "a:1");
  CHECK(client.at("client.id").value == "writer");
  CHECK(client.at("sasl.username").value == "u");
}

TEST_CASE("a producer for other brokers gets none of the consumer's credentials") {
  ClientSettings consumer = {{"bootstrap.servers", {"a:1", "", false}},
                             {"security.protocol", {"sasl_ssl", "", false}},
                             {"ssl.ca.location", {"/ca.pem", "", false}}};
  for (const char* key :
       {"sasl.username", "sasl.password", "ssl.key.location", "ssl.key.pem", "ssl.key.password",
        "ssl.keystore.location", "ssl.keystore.password", "ssl.certificate.location", "ssl.certificate.pem",
        "sasl.kerberos.keytab", "sasl.kerberos.principal", "sasl.oauthbearer.client.secret",
        "sasl.oauthbearer.config"})
    consumer[key] = {"x", "", false};
  auto other = setting("bootstrap.servers", "b:1");
  other["sasl.username"] = {"v", "", false};
  const auto client = producer_client(consumer, other);
  CHECK(client.size() == 4);
  CHECK(client.at("bootstrap.servers").value == "b:1");
  CHECK(client.at("security.protocol").value == "sasl_ssl");
  CHECK(client.at("ssl.ca.location").value == "/ca.pem");
  CHECK(client.at("sasl.username").value == "v");
}

TEST_CASE("a setting that the client refuses is an error that names it") {
  const auto made = Producer::create({.client = setting("linger.ms", "much")});
  REQUIRE_FALSE(made);
  CHECK(made.error().kind == ErrorKind::configuration);
  CHECK(made.error().message.find("linger.ms") != std::string::npos);
}
