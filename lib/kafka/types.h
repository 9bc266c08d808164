// Types for the things that the client library works with.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "config/config.h"

struct rd_kafka_s;
struct rd_kafka_queue_s;
struct rd_kafka_metadata;
struct rd_kafka_mock_cluster_s;
struct rd_kafka_consumer_group_metadata_s;

namespace laneway::kafka {

/// Ends the life of the client's objects.
struct Release {
  void operator()(rd_kafka_s* client) const;
  void operator()(rd_kafka_queue_s* queue) const;
  void operator()(rd_kafka_mock_cluster_s* cluster) const;
  void operator()(const struct rd_kafka_metadata* metadata) const;
};
using HandlePtr = std::unique_ptr<rd_kafka_s, Release>;
using QueuePtr = std::unique_ptr<rd_kafka_queue_s, Release>;
using MetadataPtr = std::unique_ptr<const struct rd_kafka_metadata, Release>;

struct TopicPartition {
  std::string topic;
  std::int32_t partition = 0;

  auto operator<=>(const TopicPartition&) const = default;
  /// "orders:3"
  std::string text() const { return topic + ':' + std::to_string(partition); }
  /// "orders:3:42", of a record.
  std::string text(std::int64_t offset) const { return text() + ':' + std::to_string(offset); }
};

/// No offset: nothing is committed, or the offset is not known.
inline constexpr std::int64_t no_offset = -1;
/// An offset may have been committed, but could not be read. The client looks for the offset itself.
inline constexpr std::int64_t unread_offset = -2;

/// The log of a partition as a broker described it: from `start` (included) to `end` (excluded).
struct LogBounds {
  std::int64_t start = no_offset;
  std::int64_t end = no_offset;
  /// The first record of the oldest transaction that is still open: readers of committed records get nothing
  /// from there on. no_offset if there is none, or if the client reads uncommitted records too.
  std::int64_t open_transaction = no_offset;
};

/// The result of asking the brokers for the bounds of a log.
struct LogAnswer {
  std::uint64_t number = 0;  ///< how many questions have ended; another number means another answer
  LogBounds bounds;          ///< the last bounds that a broker named
  std::string error;         ///< why the last question found no bounds; empty if it did
};

/// A partition's committed position: the next offset to process, and the metadata stored with the offset.
struct CommittedOffset {
  TopicPartition partition;
  std::int64_t offset = no_offset;
  std::string metadata;
  std::string topic_id{};  ///< of the topic when the offset was read; empty if not known, and for a commit
};

/// A member of a group at one moment. The brokers refuse offsets that are sent with it once it is no longer a
/// member.
using GroupMember = std::shared_ptr<const rd_kafka_consumer_group_metadata_s>;

/// librdkafka settings as the user gave them.
using ClientSettings = std::map<std::string, config::ClientSetting>;

/// Sizes of the client's buffers, derived from the memory budget (lane/shared/memory_plan.h). They are fixed
/// when a client is made.
struct FetchLimits {
  std::uint64_t queued_min_messages = 10000;      ///< per partition
  std::uint64_t queued_max_kbytes = 4096;         ///< per partition
  std::uint64_t fetch_partition_bytes = 1 << 18;  ///< per partition and fetch
  std::uint64_t fetch_total_bytes = 4 << 20;      ///< per fetch
  std::uint32_t fetch_wait_ms = 100;
  std::uint32_t statistics_ms = 1000;
};

}  // namespace laneway::kafka
