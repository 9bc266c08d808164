// Applies what comes back from the workers: marks the ledger, passes failed records on for their next attempt
// or as dead letters, and releases keys.
//
// Ownership: the lane's; what the constructor is given outlives this. Threads: the loop's. Nothing blocks.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "lane/attempts/attempts.h"
#include "lane/commit/crash_gate.h"
#include "lane/ledger/ledger.h"
#include "lane/shared/lane_context.h"
#include "lane/workload/workload.h"

namespace laneway::lane {

class Completions {
 public:
  Completions(const LaneContext& context, Ledger& ledger, Attempts& attempts, CrashGate& gate,
              Workload& workload)
      : context_(context), ledger_(ledger), attempts_(attempts), gate_(gate), workload_(workload) {}

  /// Applies the claims that finished since the last call.
  void collect(TimePoint now);
  /// Records that fail after this call are given back: they were not completed, so they will be delivered
  /// again.
  void drain() { drains_ = true; }
  /// As drain(), and logs those records as abandoned.
  void cancel() { drains_ = cancelled_ = true; }
  /// Records completed since the last call.
  std::uint64_t take_completed() { return std::exchange(completed_, 0); }

 private:
  void apply(handler::Finished& finished, TimePoint now);
  void apply_done(WorkBatch& batch, std::uint32_t begin, std::uint32_t end);
  void apply_each(handler::Finished& finished, WorkBatch& batch, TimePoint now);
  void complete(const handler::Item& item);
  void fail(handler::Item item, const handler::Outcome& outcome, Duration took, TimePoint now);

  const LaneContext& context_;
  Ledger& ledger_;
  Attempts& attempts_;
  CrashGate& gate_;
  Workload& workload_;
  std::vector<handler::Finished> finished_;  // of one collect()
  std::uint64_t completed_ = 0;
  bool drains_ = false;
  bool cancelled_ = false;
};

}  // namespace laneway::lane
