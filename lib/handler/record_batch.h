// A run of records of one lane: what lanes hand to the pool, workers claim parts of, and the lane takes back.
//
// One owner at a time per item: the lane's loop until it is submitted, then the worker that claimed it, then
// the loop.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "delivery/failure/blame.h"
#include "delivery/retry/retry_stages.h"
#include "kafka/record.h"
#include "pool/batch.h"

namespace laneway::handler {

enum class ItemState : std::uint8_t {
  waiting,  ///< No attempt has been answered: not started, or given back.
  done,     ///< Processed; a record of Route::work has been released.
  failed,   ///< The last attempt failed; its outcome is in the finished task.
};

/// Who is to handle a record.
enum class Route : std::uint8_t {
  work,         ///< The user's handler.
  retry_topic,  ///< Its attempts here are used up, and the next retry topic has to acknowledge it.
  dead_letter,  ///< It was given up, and the dead-letter topic has to acknowledge it.
};

/// What a record that has failed carries along.
struct FailureHistory {
  std::string reason;         ///< Of the last failure, in the handler's words; cut to what people read.
  std::int64_t first_ms = 0;  ///< When it failed first, ms since 1970.
  std::int64_t last_ms = 0;
  std::uint64_t done_before = 0;      ///< Records of its lane that were done when it failed first.
  delivery::Blame blame;              ///< Which of its failures are its own.
  std::uint32_t attempts_before = 0;  ///< That counted in the topics before this one.
  bool suspended = false;             ///< Its attempts are used up, and whether it is given up is open.
  bool unavailable = false;           ///< The last failure was the downstream's for certain.
  std::uint32_t shared = 0;           ///< Failures of a call that count for another record of that call.
  std::uint32_t throttled = 0;        ///< Times in a row that the downstream was asked too often.
  Route route = Route::work;
  delivery::DeadLetterReason given_up{};  ///< With Route::dead_letter.
  std::uint32_t forward_attempts = 0;     ///< At writing it to the topic of its route.
  /// Of the topic that it was read from; null: there are no retry topics.
  const delivery::RetryStage* stage = nullptr;
  /// Where it was read, when that is a retry topic: `record` is then as it was at its origin.
  std::int64_t retry_offset = -1;
};

struct Item {
  kafka::Record record;
  std::uint64_t sequence = 0;  ///< The ledger's number for it.
  std::uint64_t key = 0;       ///< Hash of its ordering key, in the ordered modes.
  std::uint32_t attempt = 1;   ///< The number of the next or current attempt.
  ItemState state = ItemState::waiting;
  bool left_behind = false;  ///< An earlier life completed records after it, but not this one.
  std::unique_ptr<FailureHistory> failures;  ///< null: it has not failed

  Route route() const { return failures ? failures->route : Route::work; }
  /// In the partition that it was read from.
  std::int64_t offset() const {
    return failures && failures->retry_offset >= 0 ? failures->retry_offset : record.offset();
  }
};

/// Handlers see this much of it; the lane keeps more with each batch (lane/workload/work_batch.h).
class RecordBatch : public pool::Batch {
 public:
  std::vector<Item> items;
  /// Of every item.
  Route route = Route::work;
};

}  // namespace laneway::handler
