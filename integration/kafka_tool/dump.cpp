#include "dump.h"

#include <set>

#include "client.h"
#include "topics.h"

namespace kafka_tool {

namespace {

void print_record(const std::string& topic, const rd_kafka_message_t& message) {
  Json line = {
      {"topic", topic}, {"partition", message.partition}, {"offset", message.offset}, {"key", nullptr}};
  if (message.key != nullptr)
    line["key"] = key_hash({static_cast<const char*>(message.key), message.key_len});
  print(line);
}

}  // namespace

void for_each_record(const std::string& bootstrap, const std::string& topic, bool read_committed,
                     const std::function<void(const rd_kafka_message_t&)>& use) {
  const auto client =
      connect(bootstrap, {{"group.id", "kafka_tool-dump"},
                          {"enable.auto.commit", "false"},
                          {"enable.partition.eof", "true"},
                          {"auto.offset.reset", "error"},
                          {"isolation.level", read_committed ? "read_committed" : "read_uncommitted"}});
  rd_kafka_poll_set_consumer(client.get());
  const auto count = require_topic(client.get(), topic);
  check(rd_kafka_assign(client.get(), all_partitions(topic, count, RD_KAFKA_OFFSET_BEGINNING).get()),
        "assign");
  auto deadline = Clock::now() + patience;
  // The end may be told again: it moves on when a transaction ends.
  for (std::set<std::int32_t> at_end; static_cast<std::int32_t>(at_end.size()) < count;) {
    const Message message(rd_kafka_consumer_poll(client.get(), 100));
    if (!message) {
      if (Clock::now() > deadline) throw Failure("the end of " + topic + " was not reached in time");
      continue;
    }
    deadline = Clock::now() + patience;
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      at_end.insert(message->partition);
    } else {
      check(message->err, "read " + topic);
      at_end.erase(message->partition);
      use(*message);
    }
  }
  check(rd_kafka_assign(client.get(), nullptr), "unassign");
}

void dump(const std::string& bootstrap, const std::string& topic, bool read_committed) {
  for_each_record(bootstrap, topic, read_committed,
                  [&](const rd_kafka_message_t& message) { print_record(topic, message); });
  print_watermarks(bootstrap, topic);
}

}  // namespace kafka_tool
