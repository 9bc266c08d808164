// A Kafka cluster inside this process: librdkafka's mock cluster, for the demo and for tests.
//
// It speaks the protocol over loopback, with consumer groups, commits with metadata, broker outages and
// injected errors. It has no TLS, SASL, compaction, transactions' isolation or durability, and keeps only the
// last 5 MiB of a partition.
//
// Ownership: the cluster lives as long as this object; clients of it should be gone before. Threads: any, one
// at a time.
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

  /// For bootstrap.servers.
  std::string bootstrap() const;
  Status create_topic(const std::string& name, int partitions);
  /// Brokers are numbered from 1.
  Status stop_broker(std::int32_t broker);
  Status start_broker(std::int32_t broker);
  Status set_leader(const std::string& topic, std::int32_t partition, std::int32_t broker);
  Status set_coordinator(const std::string& group, std::int32_t broker);
  Status set_transaction_coordinator(const std::string& transactional_id, std::int32_t broker);
  /// Milliseconds that each answer of a broker is held back.
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
    add_partitions,  ///< to a transaction, before the first record of each
  };
  enum class Failure {
    moved,  ///< The coordinator is moving (group requests), or the leader has changed (fetch, produce).
    unknown_member,  ///< The group does not know the member any more: it loses its partitions.
    rebalancing,     ///< The group is in the middle of a rebalance: a commit is refused.
    outdated_epoch,  ///< The group has moved on since the member's last heartbeat: a commit is refused.
    too_large,       ///< A batch of records is refused for its size.
    invalid_record,  ///< A batch of records is refused for what is in it.
    denied,          ///< The user may not read the topic, or not write to it.
    map_too_long,    ///< A commit is refused for the length of its metadata.
    out_of_order,    ///< A gap in the numbers of a producer's records: its client cannot go on.
    fenced,          ///< Another producer has the same transactional.id.
    out_of_range,    ///< The log does not have the offset of a fetch, as a leader of the past says.
  };
  /// The next `count` requests of this kind fail.
  void fail_next(Request request, std::size_t count, Failure failure = Failure::moved);
  /// Those that are still to fail or to be late do neither.
  void heal(Request request);
  /// The answers to the next requests of this kind to a broker come so much later, one request an entry, and
  /// are failures where one is given.
  Status delay_next(std::int32_t broker, Request request, const std::vector<milliseconds>& delays,
                    std::optional<Failure> failure = {});

 private:
  class Implementation;
  explicit EmbeddedCluster(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace laneway::kafka
