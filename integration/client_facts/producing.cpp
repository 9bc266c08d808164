// What the idempotent and the transactional producer do.
#include <atomic>
#include <cstring>

#include "facts.h"

namespace client_facts {
namespace {

void check(rd_kafka_error_t* error) {
  if (error != nullptr) give_up(rd_kafka_error_string(error));
}

Seen metadata_goes_with_transaction() {
  const auto name = create_topic(1);
  const Settings group{{"group.id", name}};
  rd_kafka_t* reader = consumer(kafka_bootstrap(), group);
  rd_kafka_t* writer = producer(kafka_bootstrap(), {{"transactional.id", name}});
  check(rd_kafka_init_transactions(writer, 60000));
  check(rd_kafka_begin_transaction(writer));
  const std::string metadata(3904, 'm');
  const auto offset = one(name, 0, 7);
  offset->elems[0].metadata = ::strdup(metadata.c_str());
  offset->elems[0].metadata_size = metadata.size();
  auto* member = rd_kafka_consumer_group_metadata_new(name.c_str());
  check(rd_kafka_send_offsets_to_transaction(writer, offset.get(), member, 60000));
  check(rd_kafka_commit_transaction(writer, 60000));
  const auto committed = one(name, 0);
  wait_for("the offset is committed", [&] {
    const auto code = rd_kafka_committed(reader, committed.get(), 10000);
    return code == RD_KAFKA_RESP_ERR_NO_ERROR && committed->elems[0].offset == 7;
  });
  const auto size = committed->elems[0].metadata_size;
  return {size == metadata.size(), text("%zu bytes of 3904 with offset 7", size)};
}

Seen fatal_keeps_code() {
  const Mock mock;
  mock.create("written");
  rd_kafka_t* client = producer(mock.bootstrap(), {{"enable.idempotence", "true"}});
  (void)rd_kafka_test_fatal_error(client, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "for the test");
  rd_kafka_vu_t topic{};
  topic.vtype = RD_KAFKA_VTYPE_TOPIC;
  topic.u.cstr = "written";
  auto* error = rd_kafka_produceva(client, &topic, 1);
  const auto code = error == nullptr ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_error_code(error);
  return {code != RD_KAFKA_RESP_ERR__FATAL, text("rd_kafka_produceva answers %s", rd_kafka_err2name(code))};
}

std::atomic<int> acknowledged{0};

void count_acknowledged(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) ++acknowledged;
}

/// One request is refused, and those behind it are taken: so does a broker that knows nothing of the producer
/// yet, when in-sync replicas come back between the two. How many acknowledged records are not in the log.
Seen lost_by_refusal(const char* in_flight) {
  constexpr int records = 60;
  const Mock mock;
  mock.create("written");
  rd_kafka_t* client =
      producer(mock.bootstrap(),
               {{"enable.idempotence", "true"},
                {"max.in.flight", in_flight},
                {"linger.ms", "0"},
                {"batch.num.messages", "1"}},
               [](rd_kafka_conf_t* conf) { rd_kafka_conf_set_dr_msg_cb(conf, count_acknowledged); });
  mock.fail_next(produce, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS);
  rd_kafka_mock_broker_set_rtt(mock.cluster(), 1, 50);  // so that as many are in flight as may be
  for (int i = 0; i < records; ++i)
    (void)rd_kafka_producev(client, RD_KAFKA_V_TOPIC("written"), RD_KAFKA_V_PARTITION(0), RD_KAFKA_V_END);
  if (rd_kafka_flush(client, 60000) != RD_KAFKA_RESP_ERR_NO_ERROR) give_up("records were not answered");
  std::int64_t low = 0;
  std::int64_t high = 0;
  if (rd_kafka_query_watermark_offsets(client, "written", 0, &low, &high, 30000) !=
      RD_KAFKA_RESP_ERR_NO_ERROR)
    give_up("the end of the log is not known");
  return {acknowledged > high,
          text("%d acknowledged, %lld in the log", acknowledged.load(), static_cast<long long>(high))};
}

Seen five_in_flight_lose() { return lost_by_refusal("5"); }

Seen one_in_flight_loses_nothing() {
  const auto seen = lost_by_refusal("1");
  return {!seen.holds, seen.figure};
}

std::atomic<int> end_version{-1};

rd_kafka_resp_err_t note_request(rd_kafka_t*, int, const char*, std::int32_t, std::int16_t api,
                                 std::int16_t version, std::int32_t, std::size_t, void*) {
  if (api == end_txn) end_version = version;
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t watch_requests(rd_kafka_t* client, const rd_kafka_conf_t*, void*, char*, std::size_t) {
  return rd_kafka_interceptor_add_on_request_sent(client, "facts", note_request, nullptr);
}

Seen old_transactions() {
  const auto name = create_topic(1);
  rd_kafka_t* client = producer(kafka_bootstrap(), {{"transactional.id", name}}, [](rd_kafka_conf_t* conf) {
    (void)rd_kafka_conf_interceptor_add_on_new(conf, "facts", watch_requests, nullptr);
  });
  check(rd_kafka_init_transactions(client, 60000));
  check(rd_kafka_begin_transaction(client));
  (void)rd_kafka_producev(client, RD_KAFKA_V_TOPIC(name.c_str()), RD_KAFKA_V_PARTITION(0), RD_KAFKA_V_END);
  check(rd_kafka_commit_transaction(client, 60000));
  return {end_version >= 0 && end_version < 5,
          text("EndTxn in version %d; KIP-890 begins with 5", end_version.load())};
}

}  // namespace

const std::vector<Fact> producing_facts = {
    {"32", on_kafka, "Offsets that are committed with a transaction carry their metadata.",
     "lib/kafka/produce/transaction.cpp", metadata_goes_with_transaction},
    {"35", on_mock, "After a fatal error `rd_kafka_produceva` answers with the first error's code.",
     "lib/kafka/produce/producer.cpp", fatal_keeps_code},
    {"36", on_mock,
     "With five requests in flight the idempotent producer loses a record whose request was refused at "
     "first.",
     "lib/kafka/produce/producer.cpp", five_in_flight_lose},
    {"36-one", on_mock, "With one request in flight the producer loses no record.",
     "lib/kafka/produce/producer.cpp", one_in_flight_loses_nothing},
    {"37", on_kafka,
     "The client ends transactions without KIP-890: the producer's epoch does not change with them.",
     "lib/kafka/produce/transaction.h", old_transactions},
};

}  // namespace client_facts
