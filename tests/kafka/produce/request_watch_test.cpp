// Which requests of a transaction count as unanswered.
#include "kafka/produce/request_watch.h"

#include <librdkafka/rdkafka.h>

#include <atomic>
#include <set>

#include "catch.h"
#include "eventually.h"
#include "kafka/client/handle.h"
#include "mock_cluster.h"

using namespace laneway;
using namespace laneway::kafka;

namespace {

// Keys of Kafka's protocol.
constexpr std::int16_t produce = 0;
constexpr std::int16_t last_key = 100;
constexpr std::int16_t end_txn = 26;
/// Produce, AddPartitionsToTxn, AddOffsetsToTxn, EndTxn and TxnOffsetCommit.
const std::set<std::int16_t> of_transactions{produce, 24, 25, end_txn, 28};

rd_kafka_resp_err_t on_sent(rd_kafka_t*, int, const char*, std::int32_t, std::int16_t api, std::int16_t,
                            std::int32_t, std::size_t, void* count) {
  if (api == produce) static_cast<std::atomic<int>*>(count)->fetch_add(1);
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t count_sent(rd_kafka_t* client, const rd_kafka_conf_t*, void* count, char*, std::size_t) {
  return rd_kafka_interceptor_add_on_request_sent(client, "test", on_sent, count);
}

/// A producer that has written a record to the only broker.
struct WatchedClient {
  WatchedClient() {
    auto started = MockCluster::start(1);
    REQUIRE(started);
    cluster = std::move(started).value();
    REQUIRE(cluster->create_topic("orders", 1));
    auto conf = make_conf({{"bootstrap.servers", {cluster->bootstrap(), "", false}}});
    REQUIRE(conf);
    watch.install(conf->get());
    rd_kafka_conf_interceptor_add_on_new(conf->get(), "test", count_sent, &sent);
    auto made = make_handle(RD_KAFKA_PRODUCER, std::move(conf).value());
    REQUIRE(made);
    handle = std::move(made).value();
    write();
    REQUIRE(rd_kafka_flush(handle.get(), to_ms(patience)) == RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  void write() {
    rd_kafka_vu_t topic{};
    topic.vtype = RD_KAFKA_VTYPE_TOPIC;
    topic.u.cstr = "orders";
    REQUIRE(rd_kafka_produceva(handle.get(), &topic, 1) == nullptr);
  }

  std::unique_ptr<MockCluster> cluster;
  std::atomic<int> sent{0};  // requests that write
  RequestWatch watch;
  HandlePtr handle;
};

}  // namespace

TEST_CASE("only a request of a transaction counts as unanswered") {
  for (std::int16_t api = 0; api <= last_key; ++api) {
    CAPTURE(api);
    RequestWatch watch;
    watch.failed(api);
    CHECK(watch.unanswered() == of_transactions.contains(api));
    CHECK(watch.end_unanswered() == (api == end_txn));
  }
}

TEST_CASE("an unanswered request stays unanswered until the next client") {
  RequestWatch watch;
  watch.failed(end_txn);
  watch.failed(produce);
  CHECK(watch.end_unanswered());
  watch.reset();
  CHECK_FALSE(watch.unanswered());
  CHECK_FALSE(watch.end_unanswered());
}

TEST_CASE_METHOD(WatchedClient, "a lost connection leaves a request unanswered") {
  CHECK_FALSE(watch.unanswered());
  REQUIRE(cluster->set_latency(1, to_ms(patience)));
  const int before = sent.load();
  write();
  REQUIRE(eventually([&] { return sent.load() > before; }));
  REQUIRE(cluster->stop_broker(1));
  CHECK(eventually([&] { return watch.unanswered(); }));
  CHECK_FALSE(watch.end_unanswered());
}

TEST_CASE_METHOD(WatchedClient, "a refusal is an answer") {
  cluster->fail_next(MockCluster::Request::produce, 1, MockCluster::Failure::denied);
  write();
  REQUIRE(rd_kafka_flush(handle.get(), to_ms(patience)) == RD_KAFKA_RESP_ERR_NO_ERROR);
  CHECK_FALSE(watch.unanswered());
}
