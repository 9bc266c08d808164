// Whether a failed call shows nothing about the downstream, because a call that began later has worked: the
// failure is the record's own. So records that always fail, and take longer than others, are not taken for an
// outage when a stream goes quiet and only they are left.
//
// A failure that was as quick as most calls that work is never left out. When a downstream goes out, some of
// the calls that run have been overtaken by chance, so at most 16 such failures count as the records' own.
// Further ones do if the call had already run for longer than a call that works when the last one worked, and
// if these failures are at most an eighth of the calls that worked at the time at which they began: where
// some of several backends hang, more calls fail.
//
// Pure: the time is given in and must not go back. One owner; not thread-safe. Bounded: about 4000 numbers.
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

  /// Calls that worked: how long hardly any of them takes, when the last one ended, and when the latest
  /// began.
  struct Worked {
    Duration usual_at_most{};
    TimePoint ended{};
    TimePoint began{};
  };

  /// So many calls have worked until now. To be called about once a second, and before add().
  void note(TimePoint now, std::uint64_t worked);
  /// A call has failed. Returns true if the failure is the record's own.
  bool add(const Call& failed, const Worked& worked);

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
