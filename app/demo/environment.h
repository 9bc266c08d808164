// The environment of the demo's members: a folder for configuration, log and journals, an embedded cluster
// with a topic, and a producer.
//
// Ownership: owns the cluster and the producer. The folder stays for a person to look at; the log of the
// process goes there until the process ends. Members must be destroyed first. Threads: one. Blocks: create()
// and committed() for at most seconds, acknowledge() for up to 10 s.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "config/config.h"
#include "kafka/produce/producer.h"
#include "kafka/testing/embedded_cluster.h"

namespace laneway::demo {

class Environment {
 public:
  /// No other thread may log during the call.
  static Result<std::unique_ptr<Environment>> create();

  const std::string& folder() const { return folder_; }
  std::string bootstrap() const { return cluster_->bootstrap(); }

  /// Writes the configuration of all members to a file in the folder.
  Status write_config(milliseconds work) const;
  /// Loads the configuration as the service does. Each member has a journal of its own.
  Result<config::Config> config_of(std::size_t member) const;
  std::string journal_of(std::size_t member) const;

  /// Call it before a second member joins a group of one member.
  Status expect_second_member();

  /// Sends records until each partition has `due` records.
  Status send(const std::vector<std::uint64_t>& due);
  const std::vector<std::uint64_t>& sent() const { return sent_; }
  /// Returns when the broker has acknowledged every record that was sent.
  Status acknowledge();
  /// The committed offset of the group in each partition; negative if nothing is committed.
  Result<std::vector<std::int64_t>> committed() const;

 private:
  explicit Environment(std::string folder);
  Status start();
  Error not_acknowledged() const;
  kafka::ClientSettings client() const;

  const std::string folder_;
  std::unique_ptr<kafka::EmbeddedCluster> cluster_;
  std::unique_ptr<kafka::Producer> producer_;
  std::vector<std::uint64_t> sent_;
};

}  // namespace laneway::demo
