#include "kafka/group/statistics.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kafka/access/client_words.h"

namespace laneway::kafka {
namespace {

using Json = nlohmann::json;

/// Parses the text in one pass and keeps nothing else: with thousands of partitions it has several megabytes.
/// A value is identified by the keys above it: brokers/NAME/state, topics/NAME/partitions/NUMBER/leader.
class StatisticsReader final : public nlohmann::json_sax<Json> {
 public:
  bool start_object(std::size_t) override {
    path_.emplace_back();
    // until a connected broker is found
    if (path_.size() == 2 && path_[0] == "brokers") statistics.connected = false;
    if (path_.size() == 2 && path_[0] == "cgrp") statistics.coordinator = false;
    if (in_partition()) partition_ = {};
    return true;
  }
  bool key(string_t& name) override {
    path_.back() = name;
    return true;
  }
  bool end_object() override {
    if (in_partition() && partition_.id >= 0) add_partition();
    path_.pop_back();
    return true;
  }
  bool number_integer(number_integer_t value) override {
    if (!in_partition()) return true;
    if (path_[4] == "partition") partition_.id = static_cast<std::int32_t>(value);
    if (path_[4] == "leader") partition_.leader = static_cast<std::int32_t>(value);
    if (path_[4] == "hi_offset") partition_.end = value;
    if (path_[4] == "ls_offset") partition_.stable_end = value;
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (is_throttle_time()) statistics.throttled += milliseconds(value);
    if (in_partition() && path_[4] == "rxbytes") partition_.received = value;
    return number_integer(static_cast<number_integer_t>(value));
  }
  bool string(string_t& value) override {
    if (is_of_broker() && path_[2] == "state" && value == "UP") {
      statistics.connected = true;
      statistics.brokers.push_back(broker_in(path_[1]));
    }
    if (path_.size() == 2 && path_[0] == "cgrp" && path_[1] == "state" && value == "up")
      statistics.connected = statistics.coordinator = true;
    return true;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override { return false; }

  Statistics statistics;

 private:
  /// The coordinator's connection stays up even if no broker can be asked which broker is the coordinator.
  bool is_of_broker() const {
    return path_.size() == 3 && path_[0] == "brokers" && path_[1] != "GroupCoordinator";
  }

  bool is_throttle_time() const {
    return path_.size() == 4 && path_[0] == "brokers" && path_[2] == "throttle" && path_[3] == "sum";
  }

  struct Partition {
    std::int32_t id = -1;
    std::int32_t leader = -1;
    std::uint64_t received = 0;
    std::int64_t end = no_offset;         // of the log
    std::int64_t stable_end = no_offset;  // of the part without open transactions
  };

  bool in_partition() const { return path_.size() == 5 && path_[0] == "topics" && path_[2] == "partitions"; }

  void add_partition() {
    const TopicPartition name{path_[1], partition_.id};
    if (partition_.received > 0) statistics.fetched.emplace_back(name, partition_.received);
    if (partition_.stable_end >= 0 && partition_.stable_end < partition_.end)
      statistics.open_transactions.emplace(name, partition_.stable_end);
    if (partition_.leader >= 0) statistics.leaders.emplace(name, partition_.leader);
  }

  std::vector<std::string> path_;  // the keys above the current value
  Partition partition_;
};

}  // namespace

Statistics read_statistics(std::string_view text) {
  StatisticsReader reader;
  if (!Json::sax_parse(text, &reader)) return {};
  return std::move(reader.statistics);
}

}  // namespace laneway::kafka
