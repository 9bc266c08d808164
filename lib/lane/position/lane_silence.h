// A lane's guard against the silence of its partition: asks for the end of the log, takes the steps of
// silence_watch.h that the lane can take, and passes the other steps to its loop.
//
// Ownership: the lane's; context and source outlive it. Threads: the loop's. Nothing blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lane/position/silence_watch.h"
#include "lane/shared/lane_context.h"
#include "lane/source/partition_source.h"

namespace laneway::lane {

class LaneSilence {
 public:
  LaneSilence(const LaneContext& context, const kafka::TopicPartition& partition)
      : context_(context), partition_(partition), watch_(context.silence_unit) {}

  /// `position`: where the lane begins.
  void start(std::int64_t position, TimePoint now);
  /// A record or the end of the log has arrived. Cheap: called once for each run of records.
  void came() { came_ = true; }
  /// `wants`: the lane would take records, and the client could deliver them. Returns when to call again.
  TimePoint tick(PartitionSource& source, bool wants, std::int64_t position, TimePoint now);

  /// How long the partition has been silent; zero while no step was due.
  Duration silent() const {
    return watch_.silent() >= context_.silence_unit ? watch_.silent() : Duration::zero();
  }

  /// What the loop has to do: rejoin, or restart because of `why`.
  struct Demand {
    SilenceStep step;
    std::string why;
  };
  const std::optional<Demand>& demand() const { return demand_; }

 private:
  void ask(PartitionSource& source, TimePoint now);
  void hear(const kafka::LogAnswer& answer, std::int64_t position, TimePoint now);
  void take(SilenceStep step, PartitionSource& source, std::int64_t position);
  void report(SilenceStep step, std::int64_t position) const;

  const LaneContext& context_;
  const kafka::TopicPartition& partition_;
  SilenceWatch watch_;
  bool came_ = false;
  bool noted_ = false;  // the partition's delivery is noted in context_.silences
  bool asking_ = false;
  std::uint64_t heard_ = 0;                  // the number of the last answer before the question
  std::int64_t log_end_ = kafka::no_offset;  // by the last answer
  std::optional<Demand> demand_;
};

}  // namespace laneway::lane
