// What the verbs of kafka_tool share: handles that free themselves, metadata, and JSON lines on standard
// output.
//
// The tool is the tests' second opinion, so it shares no code with the service. Single-threaded; every wait
// has a deadline and ends in a Failure that says what was waited for.
#pragma once

#include <librdkafka/rdkafka.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kafka_tool {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

/// How long a single request, and the wait for its effect, may take.
constexpr std::chrono::seconds patience{60};
inline int patience_ms() { return static_cast<int>(std::chrono::milliseconds(patience).count()); }

/// Asks again and again; false when it does not hold within the patience.
bool eventually(const std::function<bool()>& holds);

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <auto destroy>
struct Destroy {
  template <class T>
  void operator()(T* object) const {
    destroy(object);
  }
};
using Client = std::unique_ptr<rd_kafka_t, Destroy<rd_kafka_destroy>>;
using Queue = std::unique_ptr<rd_kafka_queue_t, Destroy<rd_kafka_queue_destroy>>;
using Event = std::unique_ptr<rd_kafka_event_t, Destroy<rd_kafka_event_destroy>>;
using Message = std::unique_ptr<rd_kafka_message_t, Destroy<rd_kafka_message_destroy>>;
using Partitions =
    std::unique_ptr<rd_kafka_topic_partition_list_t, Destroy<rd_kafka_topic_partition_list_destroy>>;

using DeliveryReport = void (*)(rd_kafka_t*, const rd_kafka_message_t*, void*);
using Settings = std::map<std::string, std::string>;

/// A producer when there is a delivery report, else a consumer (which joins no group by itself).
Client connect(const std::string& bootstrap, const Settings& settings = {}, DeliveryReport report = nullptr,
               void* opaque = nullptr);

struct Watermarks {
  std::int64_t low = 0;
  std::int64_t end = 0;
};
/// Asks until the leader answers: after an election it refuses for a moment.
Watermarks watermarks(rd_kafka_t* client, const std::string& topic, std::int32_t partition);
/// Waits until all `partitions` have leaders that answer.
void await_partitions(rd_kafka_t* client, const std::string& topic, std::int32_t partitions);
/// Waits until brokers answer that there is no such topic.
void await_no_topic(rd_kafka_t* client, const std::string& topic);
/// How many partitions the topic has; a missing one is a Failure.
std::int32_t require_topic(rd_kafka_t* client, const std::string& topic);

Partitions all_partitions(const std::string& topic, std::int32_t count, std::int64_t offset);

/// Throws when `code` is an error.
void check(rd_kafka_resp_err_t code, const std::string& what);
/// Throws when there is an error; frees it.
void check(rd_kafka_error_t* error, const std::string& what);

/// One line on standard output.
void print(const Json& line);

/// 64-bit FNV-1a in hexadecimal (http://www.isthe.com/chongo/tech/comp/fnv/): tells keys apart, hides their
/// content.
std::string key_hash(std::string_view key);

}  // namespace kafka_tool
