#include "topics.h"

#include <array>
#include <optional>
#include <utility>

#include "client.h"

namespace kafka_tool {

namespace {

/// The answer to the request that was just made on `queue`.
Event await_event(rd_kafka_queue_t* queue, const std::string& what) {
  Event event(rd_kafka_queue_poll(queue, patience_ms()));
  if (!event) throw Failure(what + ": no answer in time");
  if (rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR)
    throw Failure(what + ": " + rd_kafka_event_error_string(event.get()));
  return event;
}

void check_topic(const rd_kafka_topic_result_t* result, const std::string& what) {
  if (rd_kafka_topic_result_error(result) == RD_KAFKA_RESP_ERR_NO_ERROR) return;
  const char* text = rd_kafka_topic_result_error_string(result);
  throw Failure(what + ": " +
                (text != nullptr ? text : rd_kafka_err2str(rd_kafka_topic_result_error(result))));
}

using NewTopic = std::unique_ptr<rd_kafka_NewTopic_t, Destroy<rd_kafka_NewTopic_destroy>>;

/// KEY=VALUE
std::pair<std::string, std::string> setting_of(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos) throw Failure("'" + text + "' is not KEY=VALUE");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

NewTopic describe_new_topic(const std::string& topic, std::int32_t partitions,
                            const std::vector<std::string>& settings) {
  std::array<char, 512> error{};
  NewTopic description(rd_kafka_NewTopic_new(topic.c_str(), partitions, -1, error.data(), error.size()));
  if (!description) throw Failure(error.data());
  for (const auto& setting : settings) {
    const auto [key, value] = setting_of(setting);
    check(rd_kafka_NewTopic_set_config(description.get(), key.c_str(), value.c_str()), setting);
  }
  return description;
}

/// Into the list. A coordinator that has only begun to be one refuses at first.
void ask_committed(rd_kafka_t* client, const std::string& group, rd_kafka_topic_partition_list_t* list) {
  auto code = RD_KAFKA_RESP_ERR_NO_ERROR;
  const auto answered = [&] {
    code = rd_kafka_committed(client, list, patience_ms());
    return code == RD_KAFKA_RESP_ERR_NO_ERROR;
  };
  if (!eventually(answered)) check(code, "committed offsets of " + group);
}

}  // namespace

void create_topic(const std::string& bootstrap, const std::string& topic, std::int32_t partitions,
                  const std::vector<std::string>& settings) {
  const auto client = connect(bootstrap);
  const Queue queue(rd_kafka_queue_new(client.get()));
  auto description = describe_new_topic(topic, partitions, settings);
  rd_kafka_NewTopic_t* request = description.get();
  rd_kafka_CreateTopics(client.get(), &request, 1, nullptr, queue.get());
  const auto event = await_event(queue.get(), "create " + topic);
  std::size_t count = 0;
  const auto* results =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event.get()), &count);
  check_topic(results[0], "create " + topic);
  await_partitions(client.get(), topic, partitions);
}

void configure_topic(const std::string& bootstrap, const std::string& topic,
                     const std::vector<std::string>& settings) {
  const auto client = connect(bootstrap);
  const Queue queue(rd_kafka_queue_new(client.get()));
  std::unique_ptr<rd_kafka_ConfigResource_t, Destroy<rd_kafka_ConfigResource_destroy>> resource(
      rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
  for (const auto& setting : settings) {
    const auto [key, value] = setting_of(setting);
    check(rd_kafka_ConfigResource_set_config(resource.get(), key.c_str(), value.c_str()), setting);
  }
  rd_kafka_ConfigResource_t* request = resource.get();
  rd_kafka_AlterConfigs(client.get(), &request, 1, nullptr, queue.get());
  const auto event = await_event(queue.get(), "configure " + topic);
  std::size_t count = 0;
  const auto* results =
      rd_kafka_AlterConfigs_result_resources(rd_kafka_event_AlterConfigs_result(event.get()), &count);
  check(rd_kafka_ConfigResource_error(results[0]), "configure " + topic);
}

void delete_topic(const std::string& bootstrap, const std::string& topic) {
  const auto client = connect(bootstrap);
  const Queue queue(rd_kafka_queue_new(client.get()));
  std::unique_ptr<rd_kafka_DeleteTopic_t, Destroy<rd_kafka_DeleteTopic_destroy>> description(
      rd_kafka_DeleteTopic_new(topic.c_str()));
  rd_kafka_DeleteTopic_t* request = description.get();
  rd_kafka_DeleteTopics(client.get(), &request, 1, nullptr, queue.get());
  const auto event = await_event(queue.get(), "delete " + topic);
  std::size_t count = 0;
  const auto* results =
      rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event.get()), &count);
  check_topic(results[0], "delete " + topic);
  await_no_topic(client.get(), topic);
}

void add_partitions(const std::string& bootstrap, const std::string& topic, std::int32_t total) {
  const auto client = connect(bootstrap);
  const Queue queue(rd_kafka_queue_new(client.get()));
  std::array<char, 512> error{};
  std::unique_ptr<rd_kafka_NewPartitions_t, Destroy<rd_kafka_NewPartitions_destroy>> description(
      rd_kafka_NewPartitions_new(topic.c_str(), static_cast<std::size_t>(total), error.data(), error.size()));
  if (!description) throw Failure(error.data());
  rd_kafka_NewPartitions_t* request = description.get();
  rd_kafka_CreatePartitions(client.get(), &request, 1, nullptr, queue.get());
  const auto event = await_event(queue.get(), "add partitions to " + topic);
  std::size_t count = 0;
  const auto* results =
      rd_kafka_CreatePartitions_result_topics(rd_kafka_event_CreatePartitions_result(event.get()), &count);
  check_topic(results[0], "add partitions to " + topic);
  await_partitions(client.get(), topic, total);
}

void delete_records(const std::string& bootstrap, const std::string& topic, std::int32_t partition,
                    std::int64_t offset) {
  const auto client = connect(bootstrap);
  const Queue queue(rd_kafka_queue_new(client.get()));
  const Partitions before(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(before.get(), topic.c_str(), partition)->offset = offset;
  std::unique_ptr<rd_kafka_DeleteRecords_t, Destroy<rd_kafka_DeleteRecords_destroy>> description(
      rd_kafka_DeleteRecords_new(before.get()));
  rd_kafka_DeleteRecords_t* request = description.get();
  rd_kafka_DeleteRecords(client.get(), &request, 1, nullptr, queue.get());
  const auto event = await_event(queue.get(), "delete records of " + topic);
  const auto* result =
      rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event.get()));
  check(result->elems[0].err, "delete records of " + topic);
}

void print_watermarks(const std::string& bootstrap, const std::string& topic) {
  const auto client = connect(bootstrap);
  const auto count = require_topic(client.get(), topic);
  for (std::int32_t partition = 0; partition < count; ++partition) {
    const auto [low, end] = watermarks(client.get(), topic, partition);
    print({{"topic", topic}, {"partition", partition}, {"low", low}, {"end", end}});
  }
}

void print_committed(const std::string& bootstrap, const std::string& group,
                     const std::vector<std::string>& topics) {
  const auto client = connect(bootstrap, {{"group.id", group}});
  for (const auto& topic : topics) {
    const auto list = all_partitions(topic, require_topic(client.get(), topic), RD_KAFKA_OFFSET_INVALID);
    ask_committed(client.get(), group, list.get());
    for (int i = 0; i < list->cnt; ++i) {
      const auto& partition = list->elems[i];
      check(partition.err, "committed offset of " + topic);
      Json line = {
          {"topic", topic}, {"partition", partition.partition}, {"offset", nullptr}, {"metadata", nullptr}};
      if (partition.offset >= 0) line["offset"] = partition.offset;
      if (partition.metadata_size > 0)
        line["metadata"] = std::string(static_cast<const char*>(partition.metadata), partition.metadata_size);
      print(line);
    }
  }
}

namespace {

Json describe_member(const rd_kafka_MemberDescription_t* member) {
  Json partitions = Json::array();
  if (const auto* assignment = rd_kafka_MemberDescription_assignment(member)) {
    const auto* list = rd_kafka_MemberAssignment_partitions(assignment);
    for (int i = 0; i < list->cnt; ++i)
      partitions.push_back({list->elems[i].topic, list->elems[i].partition});
  }
  return {{"member", rd_kafka_MemberDescription_consumer_id(member)},
          {"client", rd_kafka_MemberDescription_client_id(member)},
          {"partitions", partitions}};
}

/// Nothing while the group has no coordinator, as when it has just been created or its broker died.
std::optional<Json> describe_group(rd_kafka_t* client, const std::string& group) {
  const Queue queue(rd_kafka_queue_new(client));
  const char* name = group.c_str();
  rd_kafka_DescribeConsumerGroups(client, &name, 1, nullptr, queue.get());
  const auto event = await_event(queue.get(), "describe " + group);
  std::size_t count = 0;
  const auto* groups = rd_kafka_DescribeConsumerGroups_result_groups(
      rd_kafka_event_DescribeConsumerGroups_result(event.get()), &count);
  if (const auto* error = rd_kafka_ConsumerGroupDescription_error(groups[0])) {
    const auto code = rd_kafka_error_code(error);
    if (code == RD_KAFKA_RESP_ERR_NOT_COORDINATOR || code == RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE ||
        code == RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS)
      return std::nullopt;
    throw Failure("describe " + group + ": " + rd_kafka_error_string(error));
  }
  Json members = Json::array();
  for (std::size_t i = 0; i < rd_kafka_ConsumerGroupDescription_member_count(groups[0]); ++i)
    members.push_back(describe_member(rd_kafka_ConsumerGroupDescription_member(groups[0], i)));
  const auto state = rd_kafka_ConsumerGroupDescription_state(groups[0]);
  return Json{{"group", group}, {"state", rd_kafka_consumer_group_state_name(state)}, {"members", members}};
}

}  // namespace

void print_members(const std::string& bootstrap, const std::string& group) {
  const auto client = connect(bootstrap);
  std::optional<Json> description;
  if (!eventually([&] { return (description = describe_group(client.get(), group)).has_value(); }))
    throw Failure("describe " + group + ": no coordinator was found in time");
  print(*description);
}

}  // namespace kafka_tool
