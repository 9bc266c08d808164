// A position in the log of a simulated partition, with a ledger and without a lane.
#pragma once

#include <cstdint>

#include "lane/position/log_position.h"
#include "lane/simulated_partition.h"

namespace laneway::lane {

inline kafka::Record record_at(std::int64_t offset, std::int64_t timestamp = -1) {
  kafka::RecordData data;
  data.topic = "orders";
  data.partition = 3;
  data.offset = offset;
  data.timestamp = timestamp;
  data.value = "";
  return kafka::Record(data);
}

/// A position at `start`, on a log of which the client knows no bounds yet.
struct Positioned {
  explicit Positioned(std::int64_t start = 100) : ledger(start), position(id, start, ledger, errors, stats) {}

  /// Takes the records that the client delivers.
  void take(std::int64_t begin, std::int64_t end) {
    for (auto offset = begin; offset < end; ++offset) {
      position.took(offset);
      position.remember(record_at(offset));
      ledger.complete(ledger.append(offset));
    }
  }
  bool delivers(std::int64_t offset) { return position.follows(source, offset, false, now); }
  bool delivers_end(std::int64_t offset) { return position.follows(source, offset, true, now); }
  LogPosition::Found pass(Duration time) { return position.tick(source, now += time); }
  bool pass_with_error(Duration time, bool may_take = true) {
    return position.tick_errors(source, may_take, now += time);
  }
  std::uint64_t expired() const { return stats.expired.get(); }

  TimePoint now{seconds(1000)};
  Partition partition;
  SimulatedSource source{partition};
  LaneId id{{"orders", 3}, 7};
  LaneStats stats;
  Ledger ledger;
  SourceErrors errors{id};
  LogPosition position;
};

}  // namespace laneway::lane
