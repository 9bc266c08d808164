// A Kafka cluster inside this process: librdkafka's mock cluster, for the demo and for tests.
//
// The cluster speaks Kafka's protocol over loopback, with consumer groups, commits with metadata, broker
// outages and injected errors. It has no TLS, SASL, compaction, isolation of transactions, or durability, and
// keeps only the last 5 MiB of a partition.
//
// Ownership: the cluster lives as long as this object; its clients should be destroyed earlier. Threads: any,
// one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace laneway::kafka {

class EmbeddedCluster {
 public:
  static Result<std::unique_ptr<EmbeddedCluster>> start(int brokers);
  ~EmbeddedCluster();

  /// The value for bootstrap.servers.
  std::string bootstrap() const;
  Status create_topic(const std::string& name, int partitions);
  /// Brokers are numbered from 1.
  Status stop_broker(std::int32_t broker);
  Status start_broker(std::int32_t broker);
  Status set_leader(const std::string& topic, std::int32_t partition, std::int32_t broker);
  Status set_coordinator(const std::string& group, std::int32_t broker);
  Status set_transaction_coordinator(const std::string& transactional_id, std::int32_t broker);
  /// Delays each answer of a broker by `ms` milliseconds.
  Status set_latency(std::int32_t broker, int ms);

  enum class Request {
    fetch,
    list_offsets,  ///< where a log begins and ends
    offset_commit,
    offset_fetch,
    join_group,
    sync_group,
    heartbeat,
    produce,
    add_partitions,  ///< adds partitions to a transaction, before the first record of each
    send_offsets,    ///< a commit of offsets in a transaction
  };
  enum class Failure {
    moved,  ///< The coordinator is moving (group requests), or the leader has changed (fetch, produce).
    unknown_member,    ///< The group no longer knows the member, which loses its partitions.
    rebalancing,       ///< The group is in the middle of a rebalance: a commit is refused.
    outdated_epoch,    ///< The group has changed since the member's last heartbeat: a commit is refused.
    too_large,         ///< A batch of records is refused for its size.
    invalid_record,    ///< A batch of records is refused for its content.
    denied,            ///< The user may not read the topic, or may not write to it.
    map_too_long,      ///< A commit is refused for the length of its metadata.
    commit_too_large,  ///< A commit is refused for its size; Kafka 4 answers with an unknown error.
    out_of_order,      ///< A gap in the sequence numbers of a producer's records: its client cannot continue.
    fenced,            ///< Another producer has the same transactional.id.
    out_of_range,      ///< The log does not contain the offset of a fetch, as a former leader may report.
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
  class Implementation;
  explicit EmbeddedCluster(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace laneway::kafka
