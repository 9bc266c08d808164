// Writes records to topics; each counts when the broker has acknowledged it.
//
// Ownership: owns a client handle. Threads: one at a time. send() waits, up to its deadline, only while the
// client's own buffer is full; flush() waits for acknowledgements.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "kafka/types.h"

namespace laneway::kafka {

class Producer {
 public:
  static Result<std::unique_ptr<Producer>> create(const ClientSettings& settings);
  ~Producer();

  Status send(const TopicPartition& to, std::optional<std::string_view> key, std::string_view value,
              Deadline deadline);
  /// False if some are still unacknowledged at the deadline.
  bool flush(Deadline deadline);
  std::uint64_t acknowledged() const;
  std::uint64_t failed() const;

 private:
  class Implementation;
  explicit Producer(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace laneway::kafka
