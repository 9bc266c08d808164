// Whether a failed call shows nothing about the downstream, because a call that began later has worked: the
// failure is the record's own. So records that always fail, and take longer than others, are not taken for an
// outage when a stream goes quiet and only they are left.
//
// When a downstream goes out, some of the calls that run have been overtaken by chance. So at most 16 such
// failures count as the records' own. More do if each call had run for half as long again as any call that
// worked lately, and if at the time at which they began at least four times as many calls began that worked:
// where some of several backends hang, more calls fail.
//
// Pure: the time is given in and must not go back. One owner; not thread-safe. Bounded: about 1000 numbers.
#pragma once

#include <cstdint>
#include <deque>

#include "base/time.h"

namespace laneway::delivery {

class OvertakenCalls {
 public:
  struct Call {
    TimePoint began;
    TimePoint ended;
  };

  /// So many calls have worked until now. To be called about once a second, and before add().
  void note(TimePoint now, std::uint64_t worked);
  /// A call has failed. `last`: the last call that worked; `longest`: how long a call that worked lately took
  /// at most. Returns true if the failure is the record's own.
  bool add(const Call& failed, const Call& last, Duration longest);

 private:
  struct Sample {
    TimePoint at{};
    std::uint64_t worked = 0;
  };
  struct Overtaken : Call {
    bool by_far;
  };
  std::uint64_t worked_between(TimePoint from, TimePoint to) const;
  std::uint64_t most_by_share(TimePoint began) const;

  std::deque<Sample> samples_;
  Sample latest_;
  std::deque<Overtaken> overtaken_;  // by the time of their end
  std::size_t by_chance_ = 0;        // of these, those that were not overtaken by far
};

}  // namespace laneway::delivery
