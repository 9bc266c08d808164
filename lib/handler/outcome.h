// A handler's answer for a record.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"

namespace laneway::handler {

enum class Verdict : std::uint8_t {
  done,         ///< Processed: the offset may be committed.
  retry,        ///< This attempt failed: the record waits in the scheduler and runs again.
  reject,       ///< This record can never work.
  unavailable,  ///< The downstream is out. The record is not the cause, so no attempt is used up.
};

/// How an attempt ended, for metrics and the journal: with a verdict, or with an event instead of one.
enum class Cause : std::uint8_t {
  verdict,
  timeout,    ///< The attempt's deadline passed.
  panic,      ///< The handler threw.
  withheld,   ///< Not an attempt: the downstream's breaker allowed no call.
  throttled,  ///< The downstream gets too many calls (HTTP 429): unavailable, with a wish for fewer calls.
  local,      ///< This process could not try: it has run out of descriptors, threads or memory.
};

/// One result of a record's work, for the pool that is next (config::PoolSettings::then). Several results are
/// sub-jobs: the record is finished when all of them are.
struct Part {
  /// Names the sub-job: for the journal, for subscribers (config::Each), and for a failed sub-job that comes
  /// back from a retry topic or the dead-letter topic. Unique among the parts of a record. If empty, the
  /// number of the part, from 0.
  std::string id;
  std::optional<std::string> key;    ///< nullopt: the record's key
  std::optional<std::string> value;  ///< nullopt: null
  /// Replace the record's headers of the same names; the others stay.
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;
  /// The value is that of the record, and is not copied; `value` is not used.
  bool keeps_value = false;
};
using Parts = std::vector<Part>;

/// Bytes of its key, value and headers.
std::size_t size_of(const Part& part);

struct Outcome {
  Verdict verdict = Verdict::done;
  Cause cause = Cause::verdict;
  /// Human-readable: what went wrong, in the downstream's words if it gave any. Empty if done.
  std::string reason;
  /// The delay before the next attempt that the handler asks for, instead of the back-off.
  std::optional<Duration> after;
  /// The call of the downstream contained several records, and another record's outcome counts for the call.
  bool same_call = false;
  /// With `done`, if another pool is next: the results. An empty list: nothing is left to do. Null: the
  /// record itself goes on as it is.
  std::shared_ptr<Parts> parts{};

  static Outcome done() { return {}; }
  static Outcome done(Parts parts) {
    Outcome outcome;
    outcome.parts = std::make_shared<Parts>(std::move(parts));
    return outcome;
  }
  static Outcome retry(std::string reason, std::optional<Duration> after = {}) {
    return {Verdict::retry, Cause::verdict, std::move(reason), after, false, {}};
  }
  /// The attempt did not end in time.
  static Outcome timeout(std::string reason) {
    return {Verdict::retry, Cause::timeout, std::move(reason), {}, false, {}};
  }
  /// A defect of the handler: an exception, or an answer that is none.
  static Outcome panic(std::string reason) {
    return {Verdict::retry, Cause::panic, std::move(reason), {}, false, {}};
  }
  static Outcome reject(std::string reason) {
    return {Verdict::reject, Cause::verdict, std::move(reason), {}, false, {}};
  }
  static Outcome unavailable(std::string reason, std::optional<Duration> after = {}) {
    return {Verdict::unavailable, Cause::verdict, std::move(reason), after, false, {}};
  }
  /// A shortage of this process or machine (base/shortage.h): the record was not tried, and nothing is known
  /// about the downstream.
  static Outcome local(std::string reason) {
    return {Verdict::unavailable, Cause::local, std::move(reason), seconds(1), false, {}};
  }
};

/// How an attempt ended, as named in metrics (the label outcome) and in the journal. The journal also has
/// dead_letter, dead_letter_failed, retry_topic, retry_topic_failed and, if another pool is next, passed_on.
enum class OutcomeLabel : std::uint8_t { success, retry, rejected_record, unavailable, timeout, panic };
inline constexpr std::array outcome_labels{"success",     "retry",   "rejected_record",
                                           "unavailable", "timeout", "panic"};
OutcomeLabel label_of(const Outcome& outcome);
const char* outcome_name(const Outcome& outcome);

}  // namespace laneway::handler
