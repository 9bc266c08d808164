// Identifies a lane, in the log and wherever a member of a lane has to name it. Constant; the lane owns it.
#pragma once

#include <cstdint>
#include <string>

#include "kafka/types.h"
#include "telemetry/log.h"

namespace laneway::lane {

struct LaneId {
  kafka::TopicPartition partition;
  std::uint64_t epoch = 0;  ///< of its assignment

  /// Logs a line about the lane as a whole. `offset`: the committed position.
  void log(const char* event, std::int64_t offset, const std::string& why = {},
           telemetry::Level level = telemetry::Level::info) const {
    telemetry::log(level, event,
                   {{"topic", partition.topic},
                    {"partition", partition.partition},
                    {"epoch", epoch},
                    {"offset", offset},
                    {"why", why}});
  }
};

}  // namespace laneway::lane
