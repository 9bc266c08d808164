// A run of records of one lane: lanes submit the run to the pool, workers claim parts of it, and the lane
// takes it back.
//
// Each item has one owner at a time: the lane's loop until the item is submitted, then the worker that
// claimed the item, then the loop: when the claim is finished or, if the claim lasts too long, when the item
// is done or can no longer begin (pool::Overdue).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "delivery/failure/blame.h"
#include "delivery/retry/retry_steps.h"
#include "handler/outcome.h"
#include "kafka/record.h"
#include "pool/batch.h"

namespace laneway::handler {

enum class ItemState : std::uint8_t {
  unanswered,  ///< No attempt has been answered: not started, or given back.
  done,        ///< Processed; a record of Route::work has been released.
  failed,      ///< The last attempt failed; its outcome is in the finished task.
  // Set by the loop while a claim that lasts too long still runs:
  collected,  ///< Was done; the loop has taken the record.
  returned,   ///< Had not begun; the loop runs the record in another batch.
};

/// The destination of a record.
enum class Route : std::uint8_t {
  work,  ///< The user's handler.
  /// The record's attempts here are used up, and the next retry topic must acknowledge the record.
  retry_topic,
  dead_letter,  ///< The record was given up, and the dead-letter topic must acknowledge it.
  /// The record waits for a downstream that is out or cannot keep up, and leaves its lane to the others: a
  /// retry topic must acknowledge it.
  parked,
};

/// The history of a record that has failed.
struct FailureHistory {
  std::string reason;  ///< The reason of the last failure, in the handler's words; shortened for people.
  std::int64_t first_ms = 0;  ///< The time of the first failure, ms since 1970.
  std::int64_t last_ms = 0;
  std::uint32_t last_attempt = 0;  ///< The number of the attempt that failed last, as the log has it.
  std::uint64_t done_before = 0;   ///< The number of records of the lane that were done at the first failure.
  delivery::Blame blame;           ///< Which of the failures count against the record itself.
  std::uint32_t attempts_before = 0;  ///< Attempts that counted in the previous topics.
  /// The attempts are used up, and it is not decided yet whether the record is given up.
  bool undecided = false;
  bool unavailable = false;  ///< The last failure was certainly the downstream's.
  std::uint32_t shared = 0;  ///< Failures of a call that count against another record of that call.
  /// The number of consecutive attempts at which the downstream got too many calls.
  std::uint32_t throttled = 0;
  Route route = Route::work;
  delivery::DeadLetterReason given_up{};  ///< Set with Route::dead_letter.
  /// The number of attempts to write the record to the topic of its route.
  std::uint32_t forward_attempts = 0;
  std::string not_written;  ///< Why the last of these attempts failed; empty if none has.
  std::string in_words() const { return not_written.empty() ? reason : reason + "; " + not_written; }
  /// The step at which the record's attempts count: of the topic that it was read from or, if it was parked,
  /// of the one before. Null if there are no retry topics.
  const delivery::RetryStep* retry_step = nullptr;
  /// With Route::parked: the retry topic. The name is that of a step.
  const std::string* parks_in = nullptr;
  /// Since when a record that was parked has waited, ms since 1970; 0 for one that was not.
  std::int64_t waiting_since_ms = 0;
  TimePoint
      parked_at{};     ///< when the record that came back was written to the retry topic; zero if it was not
  bool stays = false;  ///< too large for the retry topic
  /// The offset at which the record was read, if it was read from a retry topic: `record` is then restored to
  /// its origin.
  std::int64_t retry_offset = -1;
};

class Gathering;

/// How far a record has come on its way through several pools (config::PoolSettings::then); see
/// lane/stage/between_stages.h.
struct Progress {
  /// The record as it was read; empty while `record` is that record.
  kafka::Record origin;
  /// The record of this pool while Item::record is, on its way to a retry topic, the record as it was read.
  kafka::Record own;
  std::string part;            ///< id of the sub-job; empty if the record is whole
  std::size_t index = 0;       ///< of the sub-job among those of the record
  std::uint32_t gathered = 0;  ///< how often sub-jobs of the record have been gathered
  /// Of all sub-jobs of the record; null if the record is whole.
  std::shared_ptr<Gathering> gathering;
  bool keeps_whole = false;        // the first of the record's sub-jobs that wait in a row
  std::shared_ptr<Parts> results;  ///< of the pool that has just finished; null if it gave none
};

struct Item {
  kafka::Record record;
  std::uint64_t sequence = 0;  ///< The record's number in the ledger.
  std::uint64_t key = 0;       ///< Hash of the record's ordering key, in the ordered modes.
  std::uint32_t attempt = 1;   ///< The number of the next or current attempt.
  ItemState state = ItemState::unanswered;
  bool left_behind = false;  ///< An earlier process completed records after this one, but not this one.
  /// The record failed in an earlier process or in the topic before, while the downstream worked for others.
  bool suspect = false;
  std::unique_ptr<FailureHistory> failures;  ///< null if the record has not failed
  std::unique_ptr<Progress> progress;        ///< null in the first pool
  /// When the record began to wait for its pool or for its downstream; zero before.
  TimePoint arrived{};

  /// For the states of a claim that is not finished, which the worker and the loop look at. What the worker
  /// wrote before the state is visible with it.
  ItemState seen_state() const {
    return std::atomic_ref<ItemState>(const_cast<ItemState&>(state)).load(std::memory_order_acquire);
  }
  void publish_state(ItemState now) {
    std::atomic_ref<ItemState>(state).store(now, std::memory_order_release);
  }

  Route route() const { return failures ? failures->route : Route::work; }
  Progress& begin_progress() {
    if (!progress) progress = std::make_unique<Progress>();
    return *progress;
  }
  /// The offset in the partition that the record was read from.
  std::int64_t offset() const {
    return failures && failures->retry_offset >= 0 ? failures->retry_offset : record.offset();
  }
};

/// The part of a batch that handlers see; the lane keeps more data with each batch
/// (lane/batch/work_batch.h).
class RecordBatch : public pool::Batch {
 public:
  std::vector<Item> items;
  /// The route of every item.
  Route route = Route::work;
  /// Another pool is next: records that are done are needed there.
  bool passes_on = false;
};

}  // namespace laneway::handler
