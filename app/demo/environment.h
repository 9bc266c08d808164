// What the demo's members work in: a folder for configuration, log and journals, an embedded cluster with a
// topic, and a producer.
//
// Ownership: owns cluster and producer; the folder stays, for a person to look at, and so does the log, which
// goes there for the rest of the process. Members must be gone before. One thread. Blocking: create() and
// committed() for seconds at most, acknowledge() up to 10 s.
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
  /// No other thread may be logging.
  static Result<std::unique_ptr<Environment>> create();

  const std::string& folder() const { return folder_; }
  std::string bootstrap() const { return cluster_->bootstrap(); }

  /// The configuration of all members, as a file in the folder.
  Status write_config(milliseconds work) const;
  /// As the service itself would load it; each member has a journal of its own.
  Result<config::Config> config_of(std::size_t member) const;
  std::string journal_of(std::size_t member) const;

  /// To be called before a second member joins a group of one.
  Status expect_second_member();

  /// Sends what is missing to `due` records in each partition.
  Status send(const std::vector<std::uint64_t>& due);
  const std::vector<std::uint64_t>& sent() const { return sent_; }
  /// Returns when the broker has acknowledged everything that was sent.
  Status acknowledge();
  /// What the broker says that the group has committed in each partition; negative: nothing.
  Result<std::vector<std::int64_t>> committed() const;

 private:
  explicit Environment(std::string folder);
  Status start();
  Status open_log() const;
  Error not_acknowledged() const;
  kafka::ClientSettings client() const;

  const std::string folder_;
  std::unique_ptr<kafka::EmbeddedCluster> cluster_;
  std::unique_ptr<kafka::Producer> producer_;
  std::vector<std::uint64_t> sent_;
};

}  // namespace laneway::demo
