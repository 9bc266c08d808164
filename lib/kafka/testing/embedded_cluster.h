// A Kafka cluster inside this process: librdkafka's mock cluster, for the demo and for tests (which add
// outages and errors in tests/mock_cluster.h).
//
// The cluster speaks Kafka's protocol over loopback, with consumer groups and commits with metadata. It has
// no TLS, SASL, compaction, isolation of transactions, or durability, and keeps only the last 5 MiB of a
// partition.
//
// Ownership: the cluster lives as long as this object; its clients should be destroyed earlier. Threads: any,
// one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kafka/types.h"

namespace laneway::kafka {

class EmbeddedCluster {
 public:
  static Result<std::unique_ptr<EmbeddedCluster>> start(int brokers);

  /// The value for bootstrap.servers.
  std::string bootstrap() const;
  Status create_topic(const std::string& name, int partitions);
  /// Delays the answers of a broker, from 1, to the next requests of this kind (by its number in Kafka's
  /// protocol), one request for each entry. An `error` other than 0 is their answer.
  Status delay_next(std::int32_t broker, std::int16_t request, const std::vector<milliseconds>& delays,
                    std::int16_t error = 0);
  static constexpr std::int16_t join_group = 11;

 protected:
  rd_kafka_mock_cluster_s* mock() const { return cluster_.get(); }

 private:
  EmbeddedCluster(HandlePtr handle, int brokers);

  HandlePtr handle_;  // owns the threads of the cluster
  std::unique_ptr<rd_kafka_mock_cluster_s, Release> cluster_;
};

}  // namespace laneway::kafka
