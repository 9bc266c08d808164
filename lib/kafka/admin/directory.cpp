#include "kafka/admin/directory.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "kafka/admin/create_topic.h"
#include "kafka/client/connection_trouble.h"
#include "kafka/client/handle.h"
#include "kafka/group/membership.h"

namespace laneway::kafka {
namespace {

/// The client's events are read this often while a request waits.
constexpr Duration callback_interval = milliseconds(500);

Error missing(const std::string& topic, rd_kafka_resp_err_t code) {
  if (code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
    return {ErrorKind::unavailable, "topic " + topic + ": access denied", missing_right(code)};
  if (code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC)
    return {ErrorKind::unavailable, "topic " + topic + " does not exist",
            "create the topic, or correct its name in the configuration"};
  return {ErrorKind::unavailable, "topic " + topic + ": " + rd_kafka_err2str(code), ""};
}

const rd_kafka_metadata_topic_t* find_topic(const rd_kafka_metadata_t& metadata, const std::string& topic) {
  const rd_kafka_metadata_topic_t* end = metadata.topics + metadata.topic_cnt;
  const auto* found = std::find_if<const rd_kafka_metadata_topic_t*>(
      metadata.topics, end, [&](const auto& t) { return topic == t.topic; });
  return found == end ? nullptr : found;
}

/// A partition that has a leader; the first partition if none has a leader.
std::int32_t partition_to_ask(const rd_kafka_metadata_topic_t& topic) {
  const rd_kafka_metadata_partition_t* end = topic.partitions + topic.partition_cnt;
  const auto* led = std::find_if<const rd_kafka_metadata_partition_t*>(
      topic.partitions, end, [](const auto& partition) { return partition.leader >= 0; });
  return led == end ? 0 : led->id;
}

using Settings = std::map<std::string, std::string>;

Settings settings_of(const rd_kafka_ConfigResource_t* resource) {
  Settings settings;
  std::size_t count = 0;
  const auto* const* entries = rd_kafka_ConfigResource_configs(resource, &count);
  for (std::size_t i = 0; i < count; ++i)
    if (const char* value = rd_kafka_ConfigEntry_value(entries[i]))
      settings[rd_kafka_ConfigEntry_name(entries[i])] = value;
  return settings;
}

/// The settings of topics or brokers by their names, without those that the user may not see.
std::map<std::string, Settings> described(rd_kafka_t* handle, rd_kafka_ResourceType_t type,
                                          const std::vector<std::string>& names, Duration timeout) {
  std::vector<rd_kafka_ConfigResource_t*> asked;
  for (const auto& name : names) asked.push_back(rd_kafka_ConfigResource_new(type, name.c_str()));
  const QueuePtr answers(rd_kafka_queue_new(handle));
  rd_kafka_DescribeConfigs(handle, asked.data(), asked.size(), nullptr, answers.get());
  rd_kafka_ConfigResource_destroy_array(asked.data(), asked.size());
  const EventPtr event(rd_kafka_queue_poll(answers.get(), to_ms(timeout)));
  const auto* result = event ? rd_kafka_event_DescribeConfigs_result(event.get()) : nullptr;
  std::map<std::string, Settings> found;
  if (result == nullptr) return found;
  std::size_t count = 0;
  const auto* const* resources = rd_kafka_DescribeConfigs_result_resources(result, &count);
  for (std::size_t i = 0; i < count; ++i)
    if (rd_kafka_ConfigResource_error(resources[i]) == RD_KAFKA_RESP_ERR_NO_ERROR)
      found[rd_kafka_ConfigResource_name(resources[i])] = settings_of(resources[i]);
  return found;
}

/// The settings of one topic or broker; empty if the user may not see them.
Settings described(rd_kafka_t* handle, rd_kafka_ResourceType_t type, const std::string& name,
                   Duration timeout) {
  return described(handle, type, std::vector{name}, timeout)[name];
}

std::string setting(const Settings& settings, const char* name) {
  const auto found = settings.find(name);
  return found == settings.end() ? std::string() : found->second;
}

/// A time that the clock cannot represent counts as forever.
std::optional<Duration> retention_in(const Settings& settings) {
  const auto ms = std::strtoll(setting(settings, "retention.ms").c_str(), nullptr, 10);
  const bool by_age = setting(settings, "cleanup.policy").find("delete") != std::string::npos;
  if (!by_age || ms <= 0 || ms > duration_cast<milliseconds>(Duration::max()).count()) return {};
  return milliseconds(ms);
}

}  // namespace

Directory::Directory(const ClientSettings& settings)
    : group_(setting_of(settings, "group.id")),
      protocol_(config::group_protocol(settings)),
      trouble_(std::make_unique<ConnectionTrouble>(settings)) {}
Directory::~Directory() = default;

Result<std::unique_ptr<Directory>> Directory::open(const ClientSettings& settings) {
  std::unique_ptr<Directory> directory(new Directory(settings));
  auto handle = open_consumer(settings, {{"enable.partition.eof", "true"}, {"fetch.wait.max.ms", "10"}},
                              [&](rd_kafka_conf_t* conf) {
                                rd_kafka_conf_set_opaque(conf, directory.get());
                                rd_kafka_conf_set_error_cb(conf, on_error);
                                rd_kafka_conf_set_log_cb(conf, on_log);
                              });
  if (!handle) return handle.error();
  directory->handle_ = std::move(handle).value();
  return directory;
}

void Directory::on_error(rd_kafka_t*, int code, const char* words, void* self) {
  static_cast<Directory*>(self)->trouble_->failed(code, words);
}

void Directory::on_log(const rd_kafka_t* client, int level, const char* facility, const char* text) {
  if (auto* self = client == nullptr ? nullptr : static_cast<Directory*>(rd_kafka_opaque(client)))
    self->trouble_->logged(facility, text);
  pass_on_log(client, level, facility, text);
}

/// Handles the client's next event; returns false if no event comes in this time.
bool Directory::listen(Duration timeout) {
  rd_kafka_message_t* message = rd_kafka_consumer_poll(handle_.get(), to_ms(timeout));
  if (message == nullptr) return false;
  const auto code = message->err;
  const std::string topic = message->rkt == nullptr ? "" : rd_kafka_topic_name(message->rkt);
  rd_kafka_message_destroy(message);
  const bool fetched = code == RD_KAFKA_RESP_ERR_NO_ERROR || code == RD_KAFKA_RESP_ERR__PARTITION_EOF;
  if (code == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED) group_denied_ = true;
  if (code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED) denied_topics_.insert(topic);
  if (fetched) denied_topics_.erase(topic);
  if (!topic.empty()) answered_topics_.insert(topic);
  return true;
}

TopicInfo Directory::noted(const rd_kafka_metadata_topic_t& topic) {
  asked_partitions_[topic.topic] = partition_to_ask(topic);
  return {topic.topic, topic.partition_cnt};
}

/// The metadata of all topics, or of one topic. A refused login ends the wait.
Result<MetadataPtr> Directory::metadata(rd_kafka_topic_t* only, Deadline deadline) {
  for (;;) {
    const rd_kafka_metadata_t* raw = nullptr;
    const auto wait = std::clamp<Duration>(deadline.left(), milliseconds(1), callback_interval);
    const auto code = rd_kafka_metadata(handle_.get(), only == nullptr ? 1 : 0, only, &raw, to_ms(wait));
    MetadataPtr metadata(raw);
    while (listen(Duration::zero())) {
    }
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
      trouble_->answered();
      return metadata;
    }
    if (trouble_->login_refused() || deadline.passed()) return trouble_->no_answer(code);
  }
}

/// The metadata of all topics; remembers the brokers.
Result<MetadataPtr> Directory::look_up(Deadline deadline) {
  auto all = metadata(nullptr, deadline);
  if (!all) return all;
  brokers_ = static_cast<std::size_t>((**all).broker_cnt);
  if (brokers_ > 0) broker_ = (**all).brokers[0].id;
  return all;
}

/// Why a topic is not among the topics that the user may describe.
Error Directory::absent(const std::string& topic, Deadline deadline) {
  const TopicPtr only(rd_kafka_topic_new(handle_.get(), topic.c_str(), nullptr));
  const auto answer = metadata(only.get(), deadline);
  if (!answer) return answer.error();
  const auto* found = find_topic(**answer, topic);
  const bool denied = found != nullptr && found->err != RD_KAFKA_RESP_ERR_NO_ERROR;
  return missing(topic, denied ? found->err : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
}

Result<std::vector<TopicInfo>> Directory::all_topics(Duration timeout) {
  const auto all = look_up(Deadline::in(timeout));
  if (!all) return all.error();
  std::vector<TopicInfo> found;
  for (const auto* topic = (**all).topics; topic != (**all).topics + (**all).topic_cnt; ++topic)
    if (topic->err == RD_KAFKA_RESP_ERR_NO_ERROR) found.push_back({topic->topic, topic->partition_cnt});
  return found;
}

Result<FoundTopics> Directory::consumed(const config::ConsumedTopics& topics, Duration timeout) {
  if (!topics.by_pattern()) {
    auto named = this->topics(topics.texts(), timeout);
    if (!named) return named.error();
    return FoundTopics{std::move(named).value(), {}};
  }
  auto all = all_topics(timeout);
  if (!all) return all.error();
  FoundTopics found;
  for (auto& topic : *all) {
    if (const auto key = topics.left_out_by(topic.name); !key.empty())
      found.left_out.push_back(topic.name + " (" + key + ')');
    else if (topics.contains(topic.name))
      found.topics.push_back(std::move(topic));
  }
  return found;
}

Result<std::vector<TopicInfo>> Directory::topics(const std::vector<std::string>& names, Duration timeout) {
  const auto deadline = Deadline::in(timeout);
  const auto all = look_up(deadline);
  if (!all) return all.error();
  std::vector<TopicInfo> found;
  for (const auto& name : names) {
    const auto* topic = find_topic(**all, name);
    if (topic == nullptr) return absent(name, deadline);
    if (topic->err != RD_KAFKA_RESP_ERR_NO_ERROR) return missing(name, topic->err);
    found.push_back(noted(*topic));
  }
  return found;
}

Result<std::map<std::string, TopicInfo>> Directory::existing(const std::vector<std::string>& names,
                                                             Duration timeout) {
  std::map<std::string, TopicInfo> existing;
  if (names.empty()) return existing;
  const auto all = metadata(nullptr, Deadline::in(timeout));
  if (!all) return all.error();
  for (const auto& name : names) {
    const auto* topic = find_topic(**all, name);
    if (topic == nullptr || topic->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) continue;
    if (topic->err != RD_KAFKA_RESP_ERR_NO_ERROR) return missing(name, topic->err);
    existing.emplace(name, noted(*topic));
  }
  return existing;
}

Status Directory::create(const std::string& name, std::int32_t partitions, std::optional<Duration> retention,
                         Duration timeout) {
  return create_topic(handle_.get(), name, partitions, retention, timeout);
}

std::string Directory::cluster(Duration timeout) {
  char* id = rd_kafka_clusterid(handle_.get(), to_ms(timeout));
  const std::string cluster(id == nullptr ? "" : id);
  if (id != nullptr) rd_kafka_mem_free(handle_.get(), id);
  return cluster;
}

Status Directory::readable(const std::vector<TopicInfo>& topics, Duration timeout,
                           const std::function<bool()>& given_up) {
  const auto deadline = Deadline::in(timeout);
  const ListPtr ends(rd_kafka_topic_partition_list_new(static_cast<int>(topics.size())));
  for (const auto& topic : topics)
    rd_kafka_topic_partition_list_add(ends.get(), topic.name.c_str(), asked_partitions_[topic.name])->offset =
        RD_KAFKA_OFFSET_END;
  answered_topics_.clear();
  rd_kafka_assign(handle_.get(), ends.get());
  while (answered_topics_.size() < topics.size() && !deadline.passed() && !given_up())
    listen(std::min(deadline.left(), callback_interval));
  rd_kafka_assign(handle_.get(), nullptr);
  for (const auto& topic : topics)
    if (denied_topics_.count(topic.name) > 0)
      return missing(topic.name, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  return {};
}

Status Directory::offers_protocol(Duration timeout) {
  if (!protocol_.by_brokers || broker_ < 0) return {};
  const auto settings = described(handle_.get(), RD_KAFKA_RESOURCE_BROKER, std::to_string(broker_), timeout);
  if (settings.empty()) return {};
  if (offers(protocol_, settings)) return {};
  return membership_error(protocol_, RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION, "");
}

std::optional<Duration> Directory::retention(const std::string& topic, Duration timeout) {
  const auto settings = described(handle_.get(), RD_KAFKA_RESOURCE_TOPIC, topic, timeout);
  if (setting(settings, "message.timestamp.type") != "CreateTime") return {};
  return retention_in(settings);
}

std::map<std::string, TopicLimits> Directory::limits(const std::vector<std::string>& topics,
                                                     Duration timeout) {
  std::map<std::string, TopicLimits> limits;
  if (topics.empty()) return limits;
  for (const auto& [topic, settings] : described(handle_.get(), RD_KAFKA_RESOURCE_TOPIC, topics, timeout))
    if (!settings.empty())
      limits[topic] = {setting(settings, "cleanup.policy").find("compact") != std::string::npos,
                       retention_in(settings)};
  return limits;
}

Result<std::vector<CommittedOffset>> Directory::committed(const std::vector<TopicPartition>& partitions,
                                                          Duration timeout) {
  const auto deadline = Deadline::in(timeout);
  const ListPtr list = to_list(partitions);
  for (;;) {
    const auto wait = std::clamp<Duration>(deadline.left(), milliseconds(1), callback_interval);
    const auto code = rd_kafka_committed(handle_.get(), list.get(), to_ms(wait));
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return committed_offsets(*list);
    // This wait is also a pause, for answers that come immediately.
    while (listen(milliseconds(100))) {
    }
    if (code == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED || group_denied_) return group_denied(group_);
    if (deadline.passed()) return client_error(code, "reading committed offsets");
  }
}

}  // namespace laneway::kafka
