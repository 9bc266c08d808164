// Decides what follows a failed attempt, and keeps the records that wait for their next attempt: a record
// waits outside the pool, goes to its retry topic, or is given up and goes to the dead-letter topic. The
// downstream (shared/downstream.h) decides whose failure it is; operators can skip records.
//
// Ownership: owns the waiting records; what the constructor is given outlives this. Threads: the loop's.
// Nothing blocks. Where a method returns a record, the record goes on at once, by its route. Bounded by the
// lane (retry.max_waiting).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "delivery/failure/failure_rules.h"
#include "lane/attempts/failure_log.h"
#include "lane/attempts/oldest_watch.h"
#include "lane/attempts/record_ids.h"
#include "lane/batch/work_batch.h"
#include "lane/ledger/ledger.h"
#include "lane/ledger/suspects.h"
#include "lane/ledger/waiting_records.h"
#include "lane/shared/lane_context.h"
#include "lane/state/lane_detail.h"
#include "lane/state/lane_id.h"

namespace laneway::lane {

class Attempts {
 public:
  /// What all lines of a lane share.
  struct Members {
    const LaneId& id;
    const Ledger& ledger;
    const OldestWatch& oldest;
    const delivery::RetryStep* retry_step;  ///< the step of the topic; null if there are no retry topics
  };
  /// `downstream`: it decides about these records. `limit_adapts`: to what the downstream can take.
  Attempts(const LaneContext& context, Downstream& downstream, bool limit_adapts, const Members& members);

  /// The settings of the context have changed.
  void follow_settings();

  /// An attempt has failed, after `took`.
  std::optional<handler::Item> fail(handler::Item item, const handler::Outcome& outcome, Duration took,
                                    TimePoint now);
  /// The same in a drain, after which the next owner of the partition gets the record: only notes whether the
  /// record is a suspect.
  void fail_in_drain(handler::Item& item, const handler::Outcome& outcome, Duration took, TimePoint now);
  /// The record has ended the process this often: gives it up without another attempt.
  void condemn(handler::Item& item, std::uint32_t crashes);
  /// The record holds back the commits: gives it up if it waits for a retry and ledger.policy is dead_letter.
  /// If the record is running, its next failure is its last. An outage is not the record's fault.
  std::optional<handler::Item> give_up_waiting(Sequence oldest, delivery::DeadLetterReason why);
  /// Restores what a record of a retry topic was at its origin. Returns how long the record waits until it is
  /// due.
  Duration restore(handler::Item& item, TimePoint now) const;
  /// The record of a retry topic waits here until it is due, and no attempt is used up.
  void put_off(handler::Item item, TimePoint due) { wait(std::move(item), due); }
  /// Whether records of the lane can be parked.
  bool parks() const {
    return context_.parking != nullptr && retry_step_ != nullptr && !retry_step_->parks_in.empty();
  }
  /// The record leaves for a retry topic without an attempt, because its downstream is out or cannot keep up.
  void park(handler::Item& item, TimePoint now);
  /// The record has waited too long for its downstream to take it: gives it up without an attempt.
  void give_up_unbegun(handler::Item& item);
  /// An operator gives up the record, without an attempt.
  void give_up_ordered(handler::Item& item, const std::string& reason);
  /// Takes out a record that waits for an attempt and that `chosen` picks; nullopt if it picks none. O(n).
  template <class Chosen>
  std::optional<handler::Item> take_waiting(Chosen chosen) {
    return taken(waiting_.take([&](const handler::Item& waiting) {
      return waiting.route() == handler::Route::work && chosen(waiting);
    }));
  }

  /// Takes out all such records that no breaker withholds. O(n).
  template <class Chosen>
  std::vector<handler::Item> take_all_waiting(Chosen chosen) {
    auto items = waiting_.take_all([&](const handler::Item& waiting) {
      return waiting.route() == handler::Route::work && chosen(waiting);
    });
    for (const auto& item : items) bytes_ -= memory_of(item);
    return items;
  }

  struct Skipped {
    Skip answer;
    std::optional<handler::Item> item;
  };
  /// An operator gives up this record, which is not finished.
  Skipped skip(Sequence sequence, const std::string& reason);
  /// The part for the clock: drops the wishes to skip records that are finished by now, and logs the dead
  /// letters without a line of their own. `ends`: also those that are not due.
  void tick(TimePoint now, bool ends = false);

  /// Whether a waiting record may begin.
  bool due(TimePoint now) const { return next_due().value_or(TimePoint::max()) <= now; }
  /// When the first waiting record may begin; nullopt if none waits.
  std::optional<TimePoint> next_due() const { return waiting_.next_due(!downstream_.closed()); }
  /// Whether all records that could probe the downstream, which is out, are suspects.
  bool only_suspects();
  /// Notes the records of which it is known whether they are suspects.
  void see_suspects(Suspects::Seen& seen);
  /// Takes out a record that its topic has not taken, and that is to be written again.
  std::optional<handler::Item> pop_unwritten(TimePoint now) { return taken(waiting_.pop_unwritten(now)); }
  /// Takes out the record that may begin next. `probing`: the downstream is out.
  std::optional<handler::Item> pop(TimePoint now, bool probing) { return taken(waiting_.pop(now, probing)); }
  /// Returns true if the record that was taken out begins now; otherwise the record waits here again.
  bool begins(handler::Item& item, TimePoint now);
  /// The lane drains, or the log was replaced: nothing waits any more. Returns what has waited.
  std::vector<handler::Item> clear();
  /// The log was replaced by another one.
  void start_over();

  const WaitingRecords& waiting() const { return waiting_; }
  /// Memory of the waiting records.
  std::uint64_t bytes() const { return bytes_; }
  FailureLog& log() { return log_; }

 private:
  std::optional<handler::Item> taken(std::optional<handler::Item> item) {
    if (item) bytes_ -= memory_of(*item);
    return item;
  }
  std::uint32_t throttled_times(const handler::FailureHistory& failures) const;
  std::optional<Duration> next_step(handler::Item& item, const handler::Outcome& outcome, Duration took,
                                    TimePoint now);
  std::optional<Duration> after_reject(handler::Item& item, const handler::Outcome& outcome, TimePoint now);
  std::optional<Duration> follow(handler::Item& item, const delivery::Blame::Step& step);
  void give_back_attempts(handler::Item& item);
  handler::FailureHistory& history_of(handler::Item& item) const;
  delivery::FailureRules rules_for(const handler::Item& item) const;
  void note_failure(handler::Item& item, const handler::Outcome& outcome) const;
  delivery::Blame::Step judge(handler::Item& item, const handler::Outcome& outcome, Duration took,
                              TimePoint now);
  bool skip_if_wished(handler::Item& item, const handler::Outcome& outcome);
  bool is_suspect(const handler::Item& item) const;
  static handler::Route route_after(const handler::Item& item, delivery::DeadLetterReason given_up);
  void stay(handler::Item item, const handler::Outcome& outcome, TimePoint now);
  void wait(handler::Item item, TimePoint due);
  void withhold(handler::Item item);
  double random() {
    return static_cast<double>(random_() - std::minstd_rand::min()) /
           (static_cast<double>(std::minstd_rand::max()) + 1.0);
  }

  const LaneContext& context_;
  Downstream& downstream_;
  const bool limit_adapts_;
  const Ledger& ledger_;
  const OldestWatch& oldest_;
  const delivery::RetryStep* const retry_step_;
  const RecordIds ids_;
  delivery::FailureRules rules_;
  WaitingRecords waiting_;
  std::uint64_t bytes_ = 0;
  // Wishes to skip records that were not waiting, with their reasons.
  std::map<Sequence, std::string> wishes_;
  std::uint64_t outages_ = 0;  // known when the suspects among the waiting records were found
  std::set<Sequence> found_;   // suspects, since see_suspects()
  std::vector<std::pair<Sequence, delivery::Blame>> failed_in_drain_;
  std::minstd_rand random_;
  FailureLog log_;
};

}  // namespace laneway::lane
