#include "client.h"

#include <array>
#include <cstdio>
#include <iostream>
#include <thread>

namespace kafka_tool {

bool eventually(const std::function<bool()>& holds) {
  const auto deadline = Clock::now() + patience;
  while (!holds()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

Client connect(const std::string& bootstrap, const Settings& settings, DeliveryReport report, void* opaque) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  std::array<char, 512> error{};
  Settings all = {{"bootstrap.servers", bootstrap}, {"client.id", "kafka_tool"}, {"log_level", "3"}};
  for (const auto& [key, value] : settings) all[key] = value;
  for (const auto& [key, value] : all) {
    if (rd_kafka_conf_set(conf, key.c_str(), value.c_str(), error.data(), error.size()) != RD_KAFKA_CONF_OK) {
      rd_kafka_conf_destroy(conf);
      throw Failure(error.data());
    }
  }
  if (report != nullptr) rd_kafka_conf_set_dr_msg_cb(conf, report);
  rd_kafka_conf_set_opaque(conf, opaque);
  const auto type = report != nullptr ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER;
  Client client(rd_kafka_new(type, conf, error.data(), error.size()));
  if (!client) {
    rd_kafka_conf_destroy(conf);
    throw Failure(error.data());
  }
  return client;
}

namespace {

/// Partitions of a topic, all of them and those with a leader.
struct Count {
  std::int32_t all = 0;
  std::int32_t led = 0;
};

std::int32_t count_led(const rd_kafka_metadata_topic_t& topic) {
  std::int32_t led = 0;
  for (int i = 0; i < topic.partition_cnt; ++i) led += topic.partitions[i].leader >= 0 ? 1 : 0;
  return led;
}

std::optional<Count> count_partitions(rd_kafka_t* client, const std::string& topic) {
  std::unique_ptr<rd_kafka_topic_t, Destroy<rd_kafka_topic_destroy>> handle(
      rd_kafka_topic_new(client, topic.c_str(), nullptr));
  const rd_kafka_metadata_t* metadata = nullptr;
  check(rd_kafka_metadata(client, 0, handle.get(), &metadata, patience_ms()), "metadata of " + topic);
  std::unique_ptr<const rd_kafka_metadata_t, Destroy<rd_kafka_metadata_destroy>> owner(metadata);
  if (metadata->topic_cnt != 1 || metadata->topics[0].err != RD_KAFKA_RESP_ERR_NO_ERROR) return std::nullopt;
  return Count{metadata->topics[0].partition_cnt, count_led(metadata->topics[0])};
}

}  // namespace

Watermarks watermarks(rd_kafka_t* client, const std::string& topic, std::int32_t partition) {
  Watermarks found;
  auto code = RD_KAFKA_RESP_ERR_NO_ERROR;
  const auto answered = [&] {
    code = rd_kafka_query_watermark_offsets(client, topic.c_str(), partition, &found.low, &found.end,
                                            patience_ms());
    return code == RD_KAFKA_RESP_ERR_NO_ERROR;
  };
  if (!eventually(answered)) check(code, "watermarks of " + topic);
  return found;
}

void await_partitions(rd_kafka_t* client, const std::string& topic, std::int32_t partitions) {
  const auto led = [&] { return count_partitions(client, topic).value_or(Count{}).led >= partitions; };
  if (!eventually(led)) throw Failure(topic + ": its partitions did not all get a leader in time");
  for (std::int32_t partition = 0; partition < partitions; ++partition) watermarks(client, topic, partition);
}

void await_no_topic(rd_kafka_t* client, const std::string& topic) {
  if (!eventually([&] { return !count_partitions(client, topic); }))
    throw Failure(topic + ": brokers still know the topic");
}

std::int32_t require_topic(rd_kafka_t* client, const std::string& topic) {
  const auto count = count_partitions(client, topic);
  if (!count) throw Failure("there is no topic " + topic);
  return count->all;  // also those that have no leader just now: one that is left out would look finished
}

Partitions all_partitions(const std::string& topic, std::int32_t count, std::int64_t offset) {
  Partitions list(rd_kafka_topic_partition_list_new(count));
  for (std::int32_t partition = 0; partition < count; ++partition)
    rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition)->offset = offset;
  return list;
}

void check(rd_kafka_resp_err_t code, const std::string& what) {
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) throw Failure(what + ": " + rd_kafka_err2str(code));
}

void check(rd_kafka_error_t* error, const std::string& what) {
  if (error == nullptr) return;
  const std::string text = rd_kafka_error_string(error);
  rd_kafka_error_destroy(error);
  throw Failure(what + ": " + text);
}

void print(const Json& line) {
  // Metadata that is not UTF-8 must not end the program.
  std::cout << line.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

std::string key_hash(std::string_view key) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const unsigned char byte : key) hash = (hash ^ byte) * 1099511628211ULL;
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

}  // namespace kafka_tool
