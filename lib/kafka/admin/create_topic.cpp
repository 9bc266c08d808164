#include "kafka/admin/create_topic.h"

#include <memory>

#include "kafka/client/handle.h"

namespace laneway::kafka {
namespace {

constexpr int brokers_default = -1;

}  // namespace

std::vector<std::pair<const char*, std::string>> topic_settings(std::optional<Duration> retention) {
  const auto ms = retention ? duration_cast<milliseconds>(*retention).count() : -1;
  return {{"cleanup.policy", "delete"}, {"retention.ms", std::to_string(ms)}};
}

Status create_topic(rd_kafka_t* handle, const std::string& name, std::int32_t partitions,
                    std::optional<Duration> retention, Duration timeout) {
  char words[512];
  const std::unique_ptr<rd_kafka_NewTopic_t, Destroyer<rd_kafka_NewTopic_destroy>> topic(
      rd_kafka_NewTopic_new(name.c_str(), partitions, brokers_default, words, sizeof words));
  if (!topic) return Error{ErrorKind::unavailable, "topic " + name + " cannot be created: " + words, ""};
  for (const auto& [key, value] : topic_settings(retention))
    rd_kafka_NewTopic_set_config(topic.get(), key, value.c_str());
  const QueuePtr answers(rd_kafka_queue_new(handle));
  const AdminOptionsPtr options(rd_kafka_AdminOptions_new(handle, RD_KAFKA_ADMIN_OP_CREATETOPICS));
  rd_kafka_AdminOptions_set_request_timeout(options.get(), to_ms(timeout), nullptr, 0);
  auto* one = topic.get();
  rd_kafka_CreateTopics(handle, &one, 1, options.get(), answers.get());
  const EventPtr answer(rd_kafka_queue_poll(answers.get(), to_ms(timeout)));
  if (!answer) return client_error(RD_KAFKA_RESP_ERR__TIMED_OUT, "creating topic " + name);
  const auto* result = rd_kafka_event_CreateTopics_result(answer.get());
  std::size_t count = 0;
  const auto* topics = result == nullptr ? nullptr : rd_kafka_CreateTopics_result_topics(result, &count);
  auto code = rd_kafka_event_error(answer.get());
  if (count == 1) code = rd_kafka_topic_result_error(topics[0]);
  if (code == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) return {};
  return to_status(code, "creating topic " + name);
}

}  // namespace laneway::kafka
