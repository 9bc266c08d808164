// What may happen to a record in a lane: one table with what follows each event, in each state. A sub-job has
// the same life, and handler::Gathering notes its end.
//
// A life begins when the lane takes the record: queued or, for a record of a retry topic that is not due yet,
// waiting. A record that an earlier life completed is finished at once.
//
// The states are those of docs/glossary.md, and a test compares the table with docs/architecture.md. A new
// state or event without all of its fields does not compile. The table says what follows. The callers find
// out which event has happened: event_of() for a worker's answer, Attempts for what a failure means,
// between_stages.h for the results of a stage. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "handler/record_batch.h"

namespace laneway::lane {

enum class RecordState : std::uint8_t {
  queued,      ///< in the queue of the stage's pool, or in the lane for that pool
  running,     ///< a worker has the record
  waiting,     ///< for its next attempt, or for the breaker to let the record begin
  split,       ///< its sub-jobs have taken the place of the record
  finished,    ///< needs no more work
  given_back,  ///< not finished here: runs again where the partition is consumed next
};
/// In the last two states nothing happens to a record any more.
inline constexpr std::size_t states_with_events = static_cast<std::size_t>(RecordState::finished);

/// Who has the record after an event, and does the next thing with it.
enum class RecordOwner : std::uint8_t {
  stage,         ///< Workload, or the backlog of a Line
  worker,        ///< Execution and the handler
  attempts,      ///< Attempts::waiting
  next_stage,    ///< a later stage: that of config::PoolSettings::then, or the one that gathers
  sub_jobs,      ///< handler::Gathering
  ledger,        ///< or, at the end of a sub-job, the Gathering of its record
  next_consumer  ///< another member, this one after its next start, or nobody if the log was replaced
};

enum class RecordEvent : std::uint8_t {
  claimed,     ///< by a worker
  withheld,    ///< the breaker allows no call
  unanswered,  ///< back without an answer: behind a failed record of its key, or from a claim that lasts too
               ///< long
  done,        ///< by the handler, and no stage has work left for the record
  passed_on,   ///< done, and a later stage gets the result
  split_up,    ///< done with several results, each for the next stage
  failed,      ///< and the record will have another attempt
  given_up,    ///< in this topic: the record is on its way to a retry topic or the dead-letter topic
  parked,      ///< waits for a downstream that is out or cannot keep up, and is on its way to a retry topic
  written,     ///< acknowledged by that topic
  not_written,
  due,             ///< the delay has passed, or the breaker lets the record begin; an undecided one waits on
  gathered,        ///< all sub-jobs have ended, and a stage gathers their results
  sub_jobs_ended,  ///< all sub-jobs have ended, and no stage gathers their results
  dropped,         ///< by a drain, at the end of the lane, or because the log was replaced
  count,           ///< The number of events; not an event.
};

/// What follows an event. The offset may be committed when the record is finished, and not before.
struct RecordStep {
  /// A constructor, so that a field that is missing in the table does not compile.
  constexpr RecordStep(RecordState after, RecordOwner next_owner, bool can_happen = true)
      : state(after),
        owner(next_owner),
        possible(can_happen),
        commits(can_happen && after == RecordState::finished) {}

  RecordState state;
  RecordOwner owner;
  bool possible;
  bool commits;  ///< the offset may be committed when all older ones may
};

struct RecordEvents {
  RecordEvent event;
  std::string_view words;  ///< for docs/architecture.md
  /// By the state before the event.
  std::array<RecordStep, states_with_events> steps;
};

namespace record_steps {
inline constexpr RecordStep never{RecordState::given_back, RecordOwner::next_consumer, false};
inline constexpr RecordStep queue{RecordState::queued, RecordOwner::stage};
inline constexpr RecordStep run{RecordState::running, RecordOwner::worker};
inline constexpr RecordStep wait{RecordState::waiting, RecordOwner::attempts};
inline constexpr RecordStep go_on{RecordState::queued, RecordOwner::next_stage};
inline constexpr RecordStep split{RecordState::split, RecordOwner::sub_jobs};
inline constexpr RecordStep finish{RecordState::finished, RecordOwner::ledger};
inline constexpr RecordStep give_back{RecordState::given_back, RecordOwner::next_consumer};

using E = RecordEvent;
inline constexpr std::array table{
    // after the words: queued, running, waiting, split
    RecordEvents{E::claimed, "a worker takes the record", {run, never, never, never}},
    RecordEvents{E::withheld, "the breaker allows no call", {never, wait, never, never}},
    RecordEvents{E::unanswered, "the worker gives the record back", {never, queue, never, never}},
    RecordEvents{E::done, "done, and no stage is left", {never, finish, never, never}},
    RecordEvents{E::passed_on, "done, with a result for a later stage", {never, go_on, never, never}},
    RecordEvents{E::split_up, "done, with several results", {never, split, never, never}},
    RecordEvents{E::failed, "failed, another attempt follows", {never, wait, never, never}},
    RecordEvents{E::given_up, "given up in this topic", {queue, queue, queue, never}},
    RecordEvents{E::parked, "must not stop the others of its lane: is parked", {queue, queue, queue, never}},
    RecordEvents{E::written, "written to a retry or dead-letter topic", {never, finish, never, never}},
    RecordEvents{E::not_written, "not written to that topic", {never, wait, never, never}},
    RecordEvents{E::due, "the delay is over", {never, never, queue, never}},
    RecordEvents{E::gathered, "the last sub-job ends, a stage gathers", {never, never, never, go_on}},
    RecordEvents{E::sub_jobs_ended, "the last sub-job ends, no stage gathers", {never, never, never, finish}},
    RecordEvents{
        E::dropped, "drain, end of the lane, another log", {give_back, give_back, give_back, give_back}},
};
static_assert(table.size() == static_cast<std::size_t>(E::count) &&
                  std::all_of(table.begin(), table.end(),
                              [](const auto& row) {
                                return &table[static_cast<std::size_t>(row.event)] == &row;
                              }),
              "each event has a row, and the rows are in the order of the enumerators");
}  // namespace record_steps

/// What follows the event, which must be possible in this state: otherwise nothing is committed.
constexpr const RecordStep& after(RecordState state, RecordEvent event) {
  const auto& row = record_steps::table.at(static_cast<std::size_t>(event));
  const auto& step = row.steps.at(static_cast<std::size_t>(state));
  assert(step.possible);
  return step;
}

/// A worker's answer, before Attempts and between_stages.h look at it.
constexpr RecordEvent event_of(handler::Route route, bool passes_on, handler::Verdict verdict,
                               handler::Cause cause = handler::Cause::verdict) {
  const bool done = verdict == handler::Verdict::done;
  if (route != handler::Route::work) return done ? RecordEvent::written : RecordEvent::not_written;
  if (cause == handler::Cause::withheld) return RecordEvent::withheld;
  if (!done) return RecordEvent::failed;
  return passes_on ? RecordEvent::passed_on : RecordEvent::done;
}

}  // namespace laneway::lane
