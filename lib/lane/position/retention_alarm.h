// Warns when retention is about to overtake a lane (retention_watch.h): in the log and in the lane's numbers.
//
// Ownership: the lane's; what the constructor is given outlives this. Threads: the loop's. Nothing blocks.
#pragma once

#include "lane/ledger/ledger.h"
#include "lane/position/retention_watch.h"
#include "lane/state/lane_id.h"
#include "lane/state/lane_stats.h"

namespace laneway::lane {

class RetentionAlarm {
 public:
  RetentionAlarm(const LaneId& id, const Ledger& ledger, LaneStats& stats)
      : id_(id), ledger_(ledger), stats_(stats) {}

  void observe(const kafka::LogBounds& log);

 private:
  const LaneId& id_;
  const Ledger& ledger_;
  LaneStats& stats_;
  RetentionWatch watch_;
};

}  // namespace laneway::lane
