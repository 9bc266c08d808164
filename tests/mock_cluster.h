// The embedded cluster with brokers that stop, leaders that move, and requests that fail or are answered
// late.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kafka/testing/embedded_cluster.h"

namespace laneway::kafka {

class MockCluster : public EmbeddedCluster {
 public:
  static Result<std::unique_ptr<MockCluster>> start(int brokers);

  /// Brokers are numbered from 1.
  Status stop_broker(std::int32_t broker);
  Status start_broker(std::int32_t broker);
  Status set_leader(const std::string& topic, std::int32_t partition, std::int32_t broker);
  Status set_coordinator(const std::string& group, std::int32_t broker);
  Status set_transaction_coordinator(const std::string& transactional_id, std::int32_t broker);
  /// Delays each answer of a broker by `ms` milliseconds.
  Status set_latency(std::int32_t broker, int ms);

  /// By their numbers in Kafka's protocol (https://kafka.apache.org/protocol#protocol_api_keys).
  enum class Request : std::int16_t {
    produce = 0,
    fetch = 1,
    list_offsets = 2,  ///< where a log begins and ends
    offset_commit = 8,
    offset_fetch = 9,
    join_group = 11,
    heartbeat = 12,
    sync_group = 14,
    add_partitions = 24,  ///< adds partitions to a transaction, before the first record of each
    send_offsets = 28,    ///< a commit of offsets in a transaction
  };
  /// By their error codes in Kafka's protocol (https://kafka.apache.org/protocol#protocol_error_codes).
  enum class Failure : std::int16_t {
    /// The leader has changed (fetch, produce), or the coordinator is moving (the other requests: 16).
    moved = 6,
    unknown_member = 25,    ///< The group no longer knows the member, which loses its partitions.
    rebalancing = 27,       ///< The group is in the middle of a rebalance: a commit is refused.
    outdated_epoch = 113,   ///< The group has changed since the member's last heartbeat: a commit is refused.
    too_large = 10,         ///< A batch of records is refused for its size.
    invalid_record = 87,    ///< A batch of records is refused for its content.
    denied = 29,            ///< The user may not read the topic, or may not write to it.
    map_too_long = 12,      ///< A commit is refused for the length of its metadata.
    commit_too_large = -1,  ///< A commit is refused for its size; Kafka 4 answers with an unknown error.
    out_of_order = 45,      ///< A gap in the sequence numbers of a producer: its client cannot continue.
    fenced = 90,            ///< Another producer has the same transactional.id.
    out_of_range = 1,  ///< The log does not contain the offset of a fetch, as a former leader may report.
  };
  /// The next `count` requests of this kind fail.
  void fail_next(Request request, std::size_t count, Failure failure = Failure::moved);
  /// Cancels the failures and delays that are still pending.
  void heal(Request request);
  /// Delays the answers of a broker to the next requests of this kind, one request for each entry. If
  /// `failure` is given, the answers are failures.
  Status delay_next(std::int32_t broker, Request request, const std::vector<milliseconds>& delays,
                    std::optional<Failure> failure = {});

 private:
  explicit MockCluster(EmbeddedCluster started) : EmbeddedCluster(std::move(started)) {}
};

}  // namespace laneway::kafka
