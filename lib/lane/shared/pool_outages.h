// When nobody worked: the times in which no subscriber of a pool (config::Each) answered a record as done,
// although some that had worked until then were called. Then the fault may be on this side, such as a network
// that is down, and such a time is no reason to give up what waits for one of them (each.longest_wait).
//
// Such an outage begins with the first failed call and ends with the next done record. One failed record is
// none, unless the breaker of its subscriber opens or a call of another subscriber fails, too. A subscriber
// that was out before the last record was done shows nothing: of a stream that stops, only its probes are
// left.
//
// Pure: the time is given in. One owner; not thread-safe. Bounded: of many outages, the longest are kept.
#pragma once

#include <cstddef>
#include <vector>

#include "base/time.h"

namespace laneway::lane {

class PoolOutages {
 public:
  /// Names a subscriber; is only compared.
  using Subscriber = const void*;

  static constexpr std::size_t most = 64;
  /// A shorter outage is nothing unusual; one that begins so soon after another one is the same.
  static constexpr Duration shortest = seconds(5);
  /// After an outage, nothing is given up for as long as the outage lasted, within these bounds, so that each
  /// subscriber is tried first; after a start, for the longer time. For less, if a record may wait for less.
  static constexpr Duration least_proof = seconds(60);
  static constexpr Duration proof = std::chrono::minutes(10);

  /// A record is done.
  void worked(TimePoint now);
  /// A call has failed of a subscriber that was not out when the last record was done. `certain`: its breaker
  /// has opened since, or the fault is known to be on this side.
  void failed(Subscriber who, bool certain, TimePoint now);
  /// Whether a record that is so old has waited for `longest` while others worked. `worked_at`: when the last
  /// record was done.
  bool has_waited(Duration age, Duration longest, TimePoint worked_at, TimePoint now) const;

 private:
  struct Outage {
    TimePoint begin;
    TimePoint end;
    Duration length() const { return end - begin; }
  };
  void add(Outage outage);

  TimePoint begun_{};          // the first record was done
  TimePoint failing_since_{};  // zero if no call has failed since the last record was done
  Subscriber first_ = nullptr;
  bool certain_ = false;
  std::vector<Outage> outages_;
};

}  // namespace laneway::lane
