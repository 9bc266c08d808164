// Applies what comes back from the workers: marks the ledger, passes failed records on for their next attempt
// or as dead letters, passes the results of a pool on to the next one, and releases keys.
//
// Ownership: the lane's; what the constructor is given outlives this. Threads: the loop's. Nothing blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "lane/commit/crash_gate.h"
#include "lane/ledger/ledger.h"
#include "lane/stage/workload.h"

namespace laneway::lane {

/// Where a record goes that has finished in one pool of several.
class Onward {
 public:
  /// The record goes to the next pool.
  virtual void pass_on(handler::Item done) = 0;
  /// A sub-job has ended: at its last pool or, if `given_up`, at the topic of its route.
  virtual void end_part(handler::Item part, bool given_up) = 0;
  /// An attempt has failed in a drain, which has looked at the failure.
  virtual void failed_in_drain(handler::Item item, Line& line) = 0;

 protected:
  ~Onward() = default;
};

class Completions {
 public:
  Completions(Ledger& ledger, CrashGate& gate, Workload& workload, Onward& onward)
      : ledger_(ledger), gate_(gate), workload_(workload), onward_(onward) {}

  /// Applies the claims that finished since the last call. In a drain, records that fail are given back: they
  /// are not complete, so they are delivered again.
  void collect(TimePoint now);
  /// Takes out of the claims that last too long what need not wait for their running records: records that
  /// are done, and records that have not begun.
  void collect_overdue();

 private:
  static void tell_line(const handler::Finished& finished, Line& line, TimePoint now);
  void apply(handler::Finished& finished, TimePoint now);
  void apply_early(const pool::Overdue& overdue);
  void apply_each(handler::Finished& finished, WorkBatch& batch, TimePoint now);
  void done(handler::Item& item, const WorkBatch& batch);
  static void recover(const handler::Item& item, const Line& line);
  void fail(handler::Item item, Line& line, const handler::Outcome& outcome, Duration took, TimePoint now);

  Ledger& ledger_;
  CrashGate& gate_;
  Workload& workload_;
  Onward& onward_;
  std::vector<handler::Finished> finished_;  // of one collect()
};

}  // namespace laneway::lane
