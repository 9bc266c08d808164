#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <thread>

#include "facts.h"

namespace client_facts {
namespace {

constexpr int admin_timeout_ms = 30000;

using Ask = std::function<void(rd_kafka_t*, rd_kafka_AdminOptions_t*, rd_kafka_queue_t*)>;

/// Runs an administrative request; the answer.
rd_kafka_event_t* administer(rd_kafka_admin_op_t kind, const Ask& ask) {
  rd_kafka_t* client = make(RD_KAFKA_PRODUCER, {{"bootstrap.servers", kafka_bootstrap()}});
  rd_kafka_queue_t* queue = rd_kafka_queue_new(client);
  ask(client, rd_kafka_AdminOptions_new(client, kind), queue);
  rd_kafka_event_t* event = rd_kafka_queue_poll(queue, admin_timeout_ms);
  if (event == nullptr) give_up("an administrative request was not answered");
  if (rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) give_up(rd_kafka_event_error_string(event));
  return event;
}

/// Whether the topic was created.
bool create(const std::string& name, int partitions, const Settings& configuration) {
  auto* event = administer(RD_KAFKA_ADMIN_OP_CREATETOPICS, [&](auto* client, auto* options, auto* queue) {
    char reason[256];
    auto* topic = rd_kafka_NewTopic_new(name.c_str(), partitions, 1, reason, sizeof reason);
    for (const auto& [key, value] : configuration)
      (void)rd_kafka_NewTopic_set_config(topic, key.c_str(), value.c_str());
    rd_kafka_CreateTopics(client, &topic, 1, options, queue);
  });
  std::size_t count = 0;
  const auto* results =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
  return count == 1 && rd_kafka_topic_result_error(results[0]) == RD_KAFKA_RESP_ERR_NO_ERROR;
}

}  // namespace

void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::_Exit(1);
}

std::string text(const char* format, ...) {
  char buffer[512];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

milliseconds since(Clock::time_point begin) {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
}

bool eventually(const std::function<bool()>& condition, milliseconds limit) {
  const auto begin = Clock::now();
  while (!condition()) {
    if (since(begin) > limit) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

void wait_for(const char* what, const std::function<bool()>& condition, milliseconds limit) {
  if (!eventually(condition, limit)) give_up(std::string("waited in vain: ") + what);
}

std::optional<milliseconds> time_of(std::function<void()> call, milliseconds limit) {
  const auto begin = Clock::now();
  auto done = std::make_shared<std::promise<void>>();
  auto waiting = done->get_future();
  std::thread([done, call = std::move(call)] {
    call();
    done->set_value();
  }).detach();
  if (waiting.wait_for(limit) != std::future_status::ready) return {};
  return since(begin);
}

Mock::Mock(int brokers)
    : cluster_(rd_kafka_mock_cluster_new(make(RD_KAFKA_PRODUCER, {{"client.id", "mock"}}), brokers)) {}

std::string Mock::bootstrap() const { return rd_kafka_mock_cluster_bootstraps(cluster_); }

void Mock::create(const std::string& topic, int partitions) const {
  if (rd_kafka_mock_topic_create(cluster_, topic.c_str(), partitions, 1) != RD_KAFKA_RESP_ERR_NO_ERROR)
    give_up("the mock cluster does not create " + topic);
}

void Mock::fail_next(Request request, rd_kafka_resp_err_t error, milliseconds late) const {
  const auto code = rd_kafka_mock_broker_push_request_error_rtts(cluster_, 1, request, 1, error,
                                                                 static_cast<int>(late.count()));
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) give_up("the mock cluster does not take an error");
}

std::string kafka_bootstrap() {
  const char* address = std::getenv("KAFKA_BOOTSTRAP");
  if (address == nullptr) give_up("KAFKA_BOOTSTRAP is not set: the address of a Kafka, see scripts/kafka");
  return address;
}

std::string create_topic(int partitions, const Settings& configuration) {
  static int made = 0;
  const auto moment = std::chrono::system_clock::now().time_since_epoch().count();
  const auto name = text("facts-%lld-%d", static_cast<long long>(moment), ++made);
  if (!create(name, partitions, configuration)) give_up("a topic could not be created");
  return name;
}

bool create_again(const std::string& topic) { return create(topic, 1, {}); }

void alter_topic(const std::string& topic, const std::string& key, const std::string& value) {
  administer(RD_KAFKA_ADMIN_OP_ALTERCONFIGS, [&](auto* client, auto* options, auto* queue) {
    auto* resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str());
    (void)rd_kafka_ConfigResource_set_config(resource, key.c_str(), value.c_str());
    rd_kafka_AlterConfigs(client, &resource, 1, options, queue);
  });
}

void add_partitions(const std::string& topic, int partitions) {
  administer(RD_KAFKA_ADMIN_OP_CREATEPARTITIONS, [&](auto* client, auto* options, auto* queue) {
    char reason[256];
    auto* more = rd_kafka_NewPartitions_new(topic.c_str(), static_cast<std::size_t>(partitions), reason,
                                            sizeof reason);
    rd_kafka_CreatePartitions(client, &more, 1, options, queue);
  });
}

void delete_topic(const std::string& topic) {
  administer(RD_KAFKA_ADMIN_OP_DELETETOPICS, [&](auto* client, auto* options, auto* queue) {
    auto* deleted = rd_kafka_DeleteTopic_new(topic.c_str());
    rd_kafka_DeleteTopics(client, &deleted, 1, options, queue);
  });
}

void delete_records(const std::string& topic, std::int64_t before) {
  administer(RD_KAFKA_ADMIN_OP_DELETERECORDS, [&](auto* client, auto* options, auto* queue) {
    auto* records = rd_kafka_DeleteRecords_new(one(topic, 0, before).get());
    rd_kafka_DeleteRecords(client, &records, 1, options, queue);
  });
}

std::string refused(rd_kafka_conf_t* conf, const char* key, const char* value) {
  char reason[256] = "";
  return rd_kafka_conf_set(conf, key, value, reason, sizeof reason) == RD_KAFKA_CONF_OK ? "" : reason;
}

rd_kafka_t* make(rd_kafka_type_t type, const Settings& settings,
                 const std::function<void(rd_kafka_conf_t*)>& adapt) {
  char reason[512];
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  for (const auto& [key, value] : settings)
    if (rd_kafka_conf_set(conf, key.c_str(), value.c_str(), reason, sizeof reason) != RD_KAFKA_CONF_OK)
      give_up(reason);
  rd_kafka_conf_set_log_cb(conf, [](const rd_kafka_t*, int, const char*, const char*) {});
  if (adapt) adapt(conf);
  rd_kafka_t* client = rd_kafka_new(type, conf, reason, sizeof reason);
  if (client == nullptr) give_up(reason);
  return client;
}

rd_kafka_t* consumer(const std::string& bootstrap, const Settings& more,
                     const std::function<void(rd_kafka_conf_t*)>& adapt) {
  Settings settings{{"bootstrap.servers", bootstrap},      {"group.id", "facts"},
                    {"auto.offset.reset", "earliest"},     {"enable.auto.commit", "false"},
                    {"enable.auto.offset.store", "false"}, {"enable.partition.eof", "true"}};
  for (const auto& [key, value] : more) settings[key] = value;
  rd_kafka_t* client = make(RD_KAFKA_CONSUMER, settings, adapt);
  rd_kafka_poll_set_consumer(client);
  return client;
}

rd_kafka_t* producer(const std::string& bootstrap, const Settings& more,
                     const std::function<void(rd_kafka_conf_t*)>& adapt) {
  Settings settings{{"bootstrap.servers", bootstrap}, {"acks", "all"}};
  for (const auto& [key, value] : more) settings[key] = value;
  return make(RD_KAFKA_PRODUCER, settings, adapt);
}

void fill(const std::string& bootstrap, const std::string& topic, int partition, int records, int batch) {
  rd_kafka_t* client = producer(bootstrap, {{"linger.ms", "1000"},
                                            {"batch.num.messages", std::to_string(batch)},
                                            {"queue.buffering.max.messages", "1000000"}});
  const std::string value(100, 'x');
  for (int i = 0; i < records; ++i)
    (void)rd_kafka_producev(client, RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_PARTITION(partition),
                            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                            RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()), RD_KAFKA_V_END);
  if (rd_kafka_flush(client, 60000) != RD_KAFKA_RESP_ERR_NO_ERROR) give_up("records were not acknowledged");
  rd_kafka_destroy(client);
}

List one(const std::string& topic, int partition, std::int64_t offset) {
  List list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition)->offset = offset;
  return list;
}

rd_kafka_queue_t* own_queue(rd_kafka_t* client, const std::string& topic, int partition) {
  rd_kafka_queue_t* queue = rd_kafka_queue_get_partition(client, topic.c_str(), partition);
  rd_kafka_queue_forward(queue, nullptr);
  return queue;
}

rd_kafka_queue_t* read_from_start(rd_kafka_t* client, const std::string& topic) {
  rd_kafka_queue_t* queue = own_queue(client, topic, 0);
  rd_kafka_assign(client, one(topic, 0, RD_KAFKA_OFFSET_BEGINNING).get());
  return queue;
}

std::optional<Popped> pop(rd_kafka_queue_t* queue, milliseconds wait) {
  rd_kafka_message_t* message = rd_kafka_consume_queue(queue, static_cast<int>(wait.count()));
  if (message == nullptr) return {};
  const Popped popped{message->offset, message->err};
  rd_kafka_message_destroy(message);
  return popped;
}

std::optional<std::int64_t> next_record(rd_kafka_queue_t* queue, milliseconds limit) {
  const auto begin = Clock::now();
  do {
    const auto popped = pop(queue, milliseconds(1));
    if (popped && popped->error == RD_KAFKA_RESP_ERR_NO_ERROR) return popped->offset;
  } while (since(begin) < limit);
  return {};
}

void serve(rd_kafka_t* client, milliseconds wait) {
  if (auto* message = rd_kafka_consumer_poll(client, static_cast<int>(wait.count())))
    rd_kafka_message_destroy(message);
}

}  // namespace client_facts
