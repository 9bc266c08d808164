// Names for what the client library deals in.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "config/config.h"

struct rd_kafka_s;
struct rd_kafka_consumer_group_metadata_s;

namespace laneway::kafka {

struct TopicPartition {
  std::string topic;
  std::int32_t partition = 0;

  auto operator<=>(const TopicPartition&) const = default;
  /// "orders[3]", as Kafka's own tools write it.
  std::string text() const { return topic + "[" + std::to_string(partition) + "]"; }
};

/// No offset: nothing committed, or not known.
inline constexpr std::int64_t no_offset = -1;
/// An offset may have been committed, but could not be read: the client looks for it itself.
inline constexpr std::int64_t unread_offset = -2;

/// The log of a partition as a broker described it: from `start` up to, and without, `end`.
struct LogBounds {
  std::int64_t start = no_offset;
  std::int64_t end = no_offset;
};

/// What was found out when the brokers were asked for the bounds of a log.
struct LogAnswer {
  std::uint64_t number = 0;  ///< of the questions that are over; another number is another answer
  LogBounds bounds;          ///< the last ones that a broker named
  std::string error;         ///< why the last question found none; empty: it did
};

/// A partition's committed position: the next offset to process, and what travels with it.
struct CommittedOffset {
  TopicPartition partition;
  std::int64_t offset = no_offset;
  std::string metadata;
};

/// A member of a group at a moment: offsets that come with it are refused once it is not a member any more.
using GroupMember = std::shared_ptr<const rd_kafka_consumer_group_metadata_s>;

/// librdkafka keys as the user gave them.
using ClientSettings = std::map<std::string, config::ClientSetting>;

/// The client's buffers, derived from the memory budget (lane/member/memory_plan.h). They are fixed when a
/// client is made.
struct FetchLimits {
  std::uint64_t queued_min_messages = 10000;      ///< per partition
  std::uint64_t queued_max_kbytes = 4096;         ///< per partition
  std::uint64_t fetch_partition_bytes = 1 << 18;  ///< per partition and fetch
  std::uint64_t fetch_total_bytes = 4 << 20;      ///< per fetch
  std::uint32_t fetch_wait_ms = 100;
  std::uint32_t statistics_ms = 1000;
};

}  // namespace laneway::kafka
