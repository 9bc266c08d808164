// A lane's numbers for metrics and status: written by its loop (and, per claim, by workers), read by any
// thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/histogram.h"
#include "delivery/failure/failure_rules.h"
#include "handler/outcome.h"
#include "lane/state/lane_state.h"

namespace laneway::lane {

/// Relaxed on purpose: no value depends on another.
template <class T>
class Relaxed {
 public:
  void set(T value) { value_.store(value, std::memory_order_relaxed); }
  void add(T value) { value_.fetch_add(value, std::memory_order_relaxed); }
  T get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<T> value_{};
};

/// Steady times about the oldest incomplete record; 0 if there is none.
struct OldestStats {
  Relaxed<std::int64_t> since_ns;  ///< since when it is the oldest, and holds back the commits
  /// The same, or the end of the delay of the record's retry topic, whichever is later.
  Relaxed<std::int64_t> due_ns;
};

/// Records that pools accepted, each time a record was submitted, and submissions that a full pool refused.
struct SubmissionStats {
  Relaxed<std::uint64_t> accepted;
  Relaxed<std::uint64_t> rejections;
};

/// What the acknowledged commit says.
struct CommittedStats {
  Relaxed<std::int64_t> offset;       ///< -1 if none
  Relaxed<std::int64_t> decision_ms;  ///< when the lane was suspended or resumed, since 1970; 0 if never
};

/// Counts of the whole process since its start, which outlive the lanes.
struct ProcessTotals {
  Relaxed<std::uint64_t> dead_letters;  ///< acknowledged
  Relaxed<std::uint64_t> abandoned;     ///< records that were running when their lane ended
};

struct LaneStats {
  std::array<Relaxed<std::uint64_t>, handler::outcome_labels.size()> outcomes;
  std::array<Relaxed<std::uint64_t>, delivery::dead_letter_reasons>
      dead_letters;                     ///< acknowledged, by DeadLetterReason
  Relaxed<std::uint64_t> retry_topics;  ///< acknowledged by the next retry topic
  Relaxed<std::uint64_t> parked;        ///< acknowledged by a retry topic, without a failure of their own
  Relaxed<State> state;
  Relaxed<HoldBits> hold_bits;
  SubmissionStats submissions;
  Relaxed<std::uint64_t> holds;
  Relaxed<std::uint64_t> pauses;
  Relaxed<std::int64_t> held_ns;
  Relaxed<std::int64_t> paused_ns;
  Relaxed<std::uint64_t> suppressed;  ///< completed before, by the map, and not run again
  Relaxed<std::int64_t> lag;          ///< records that are not finished; -1 if not known
  Relaxed<std::uint64_t> expired;     ///< deleted by retention before the lane took them
  Relaxed<std::int64_t> silent_ns;    ///< how long the partition has been silent; 0 if it is not
  /// Retention is about to delete records that the lane has not finished.
  Relaxed<bool> expiry_near;
  CommittedStats committed;
  Relaxed<std::int64_t> delivered_offset;  ///< the last one popped; -1 if none
  OldestStats oldest;
  Relaxed<std::uint64_t> finished_beyond;  ///< finished, above the oldest record that is not
  Relaxed<std::uint64_t> waiting_retries;
  Relaxed<std::uint64_t> record_bytes;     ///< taken and not finished, with overhead
  Relaxed<std::uint64_t> processed_bytes;  ///< of records that are finished
  Relaxed<std::uint64_t> fetched_bytes;
  Histogram resume_latency;
};

}  // namespace laneway::lane
