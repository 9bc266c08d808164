// Distinguishes a record of a partition from all other records of the process, to judge whose failure a
// failure is.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/mix.h"
#include "delivery/failure/blame.h"
#include "handler/record_batch.h"
#include "kafka/types.h"

namespace laneway::lane {

class RecordIds {
 public:
  explicit RecordIds(const kafka::TopicPartition& partition)
      : seed_(std::hash<std::string>{}(partition.topic) +
              mixed(static_cast<std::uint64_t>(partition.partition))) {}

  delivery::RecordId of(const handler::Item& item) const {
    const auto id = mixed(seed_ + static_cast<std::uint64_t>(item.offset()));
    return item.progress ? mixed(id + item.progress->index) : id;  // sub-jobs are records of their own
  }

 private:
  const std::uint64_t seed_;
};

}  // namespace laneway::lane
