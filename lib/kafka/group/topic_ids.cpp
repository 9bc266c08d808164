#include "kafka/group/topic_ids.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "base/base64.h"
#include "base/big_endian.h"
#include "kafka/client/handle.h"

namespace laneway::kafka {

#if RD_KAFKA_VERSION >= 0x020300ff
namespace {

/// Empty if the broker is too old to send an id.
std::string text_of(const rd_kafka_Uuid_t& id) {
  const auto high = static_cast<std::uint64_t>(rd_kafka_Uuid_most_significant_bits(&id));
  const auto low = static_cast<std::uint64_t>(rd_kafka_Uuid_least_significant_bits(&id));
  if (high == 0 && low == 0) return {};
  std::string bytes, text;
  for (const auto half : {high, low}) append_big_endian(bytes, half);
  append_base64url(text, bytes);
  return text;
}

TopicIds read_ids(rd_kafka_event_t& answer) {
  TopicIds found;
  found.error = rd_kafka_event_error(&answer);
  const auto* result = rd_kafka_event_DescribeTopics_result(&answer);
  std::size_t count = 0;
  const auto* topics = result == nullptr ? nullptr : rd_kafka_DescribeTopics_result_topics(result, &count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto* id = rd_kafka_TopicDescription_topic_id(topics[i]);
    const auto* error = rd_kafka_TopicDescription_error(topics[i]);
    if (error != nullptr) found.error = rd_kafka_error_code(error);
    if (error != nullptr || id == nullptr) continue;
    if (auto text = text_of(*id); !text.empty())
      found.ids.emplace(rd_kafka_TopicDescription_name(topics[i]), std::move(text));
  }
  return found;
}

}  // namespace

TopicIds topic_ids(rd_kafka_t* handle, const std::set<std::string>& topics, std::int32_t broker,
                   Duration timeout) {
  std::vector<const char*> names;
  for (const auto& topic : topics) names.push_back(topic.c_str());
  const std::unique_ptr<rd_kafka_TopicCollection_t, void (*)(rd_kafka_TopicCollection_t*)> collection(
      rd_kafka_TopicCollection_of_topic_names(names.data(), names.size()), rd_kafka_TopicCollection_destroy);
  const AdminOptionsPtr options(rd_kafka_AdminOptions_new(handle, RD_KAFKA_ADMIN_OP_DESCRIBETOPICS));
  rd_kafka_AdminOptions_set_request_timeout(options.get(), to_ms(timeout), nullptr, 0);
  if (broker >= 0) rd_kafka_AdminOptions_set_broker(options.get(), broker, nullptr, 0);
  const QueuePtr answers(rd_kafka_queue_new(handle));
  rd_kafka_DescribeTopics(handle, collection.get(), options.get(), answers.get());
  const EventPtr answer(rd_kafka_queue_poll(answers.get(), to_ms(timeout)));
  if (!answer) return {{}, RD_KAFKA_RESP_ERR__TIMED_OUT};
  return read_ids(*answer);
}
#else
TopicIds topic_ids(rd_kafka_t* /*handle*/, const std::set<std::string>& /*topics*/, std::int32_t /*broker*/,
                   Duration /*timeout*/) {
  return {};
}
#endif

}  // namespace laneway::kafka
