// Whose fault a record's failures are: a record is blamed only while the downstream works for others.
//
// An attempt that fails while the downstream is out (delivery/failure/breaker.h) does not count, nor does an
// attempt that failed at the onset of an outage, before the outage was noticed: such attempts are given back.
// So are attempts that failed in an unclear row (breaker.h), for five seconds after the record's first
// failure. When the attempts are used up, the record is given up at once, unless something speaks for the
// record:
//
//   - Other records fail as well and none has succeeded since, or half of the last 32 records have failed: an
//     outage may have begun. The record is undecided: it waits, without an attempt, until neither is true
//     (then it is given up), until the downstream is out (then its attempts are given back), or for 3 seconds
//     (then it is given up).
//   - Records that work fail now and then, because one of several backends is out: then the record needs as
//     many failures in a row as have a chance of one in a billion.
//
// Pure: the time is given in and must not go back. One for each record that has failed; one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "delivery/failure/breaker.h"
#include "delivery/failure/failure_rules.h"

namespace laneway::delivery {

/// A failed attempt at a record.
struct FailedAttempt {
  RecordId record;
  TimePoint ended;
  Duration took;
  double random;  ///< in [0, 1)
  /// Certainly the downstream's failure, whatever happens to other records: the attempt never counts.
  bool unavailable = false;
  std::optional<Duration> after{};  ///< the delay that the handler asked for before the next attempt
};

class Blame {
 public:
  struct Step {
    std::optional<DeadLetterReason> given_up;
    Duration delay{};        ///< before the next attempt, or before reconsider()
    bool undecided = false;  ///< no attempt follows, but reconsider()
  };

  Step failed(const Breaker& breaker, const FailedAttempt& attempt, const FailureRules& rules);
  /// Gives back the attempts that failed in an outage, as far as is known now.
  void give_back(const Breaker& breaker);
  /// To be called after the delay of an undecided record.
  Step reconsider(const Breaker& breaker, const FailureRules& rules, TimePoint now, double random);

  /// Whether another failure would show little about the downstream: the record failed before, while the
  /// downstream was not known to be out, or in the present outage.
  bool repeats(const Breaker& breaker) const {
    const bool failed =
        attempts_.empty() ? settled_ > 0 : attempts_.back().failed >= breaker.attributes_since();
    return pardoned_ || failed || (breaker.outages() == failed_in_ && failed_in_ > 0);
  }
  /// Whether the record is a suspect: it failed while the downstream was certainly not out. Another failure
  /// shows nothing about the downstream.
  bool suspect(const Breaker& breaker) const;
  /// The number of attempts that count so far.
  std::uint32_t counted() const { return settled_ + static_cast<std::uint32_t>(attempts_.size()); }

 private:
  struct Attempt {
    TimePoint failed;
    Duration spent;  // by the attempt and by the delay after it
  };

  void count(const FailedAttempt& attempt);
  bool pardons(const Breaker& breaker, TimePoint failed) const;
  Duration spent() const;

  std::vector<Attempt> attempts_;  // the latest attempts, which may still be given back
  std::uint32_t settled_ = 0;      // the attempts before
  Duration spent_by_settled_{};
  std::optional<TimePoint> first_failed_;
  bool pardoned_ = false;               // attempts in an unclear row were given back
  std::uint64_t failed_in_ = 0;         // the number of the last outage in which the record failed
  std::uint32_t in_a_row_ = 0;          // attempts in a row that did not count
  DeadLetterReason why_{};              // while undecided
  TimePoint undecided_since_{};         // while undecided
  std::uint64_t successes_before_ = 0;  // while undecided
};

}  // namespace laneway::delivery
