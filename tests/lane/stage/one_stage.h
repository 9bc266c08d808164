// One stage without its lane, for tests of the stage's parts: records, a handler that keeps its tasks until
// the test answers them, and what the parts are given. The pool has no threads: a record begins when it is
// submitted, on the test's own thread.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "captured_log.h"
#include "catch.h"
#include "lane/answers.h"
#include "lane/batch/work_batch.h"
#include "lane/commit/crash_gate.h"
#include "lane/stage/line.h"
#include "lane/stage/workload.h"

namespace laneway::lane {

/// Keeps its tasks, the oldest first, until the test ends them.
class TaskKeeper final : public handler::Handler {
 public:
  std::string name() const override { return "keeper"; }
  void handle(handler::Task task) noexcept override { tasks_.push_back(std::move(task)); }
  Duration timeout() const override { return std::chrono::hours(1); }
  bool asynchronous() const override { return true; }
  std::uint32_t most_per_task() const override { return most; }
  bool fills_tasks() const override { return most > 1; }

  std::size_t tasks() const { return tasks_.size(); }
  handler::Task& oldest() { return tasks_.front(); }
  handler::Task take() {
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    return task;
  }
  /// Ends the oldest task with these answers. Records without an answer are given back.
  void answer(std::vector<handler::Outcome> answers) {
    auto task = take();
    for (std::uint32_t i = 0; i < answers.size(); ++i) {
      (void)task.attempt(i);
      task.answer(i, std::move(answers[i]));
    }
  }
  /// The offsets of the oldest task's records.
  std::vector<std::int64_t> offsets() {
    std::vector<std::int64_t> offsets;
    for (std::uint32_t i = 0; i < oldest().size(); ++i)
      offsets.push_back(oldest().attempt(i).record.offset());
    return offsets;
  }

  std::uint32_t most = 1;  ///< records of a task

 private:
  std::deque<handler::Task> tasks_;
};

/// A record with so many bytes of value, and its sequence as its offset; no ledger has it.
inline handler::Item item_of(Sequence sequence, std::size_t bytes = 0) {
  kafka::RecordData data;
  data.offset = static_cast<std::int64_t>(sequence);
  data.value = std::string(bytes, 'x');
  handler::Item item;
  item.record = kafka::Record(data);
  item.sequence = sequence;
  return item;
}

/// What the parts of a stage are given. Change the contexts before the parts are made.
struct StageSurroundings {
  StageSurroundings() {
    context.stages.resize(1);
    stage().handler = &handler;
    stage().downstream = &downstream;
    stage().settings.workers = 1;
    stage().settings.queue = 16;
    context.forward = &forward;
    context.retry.max_crashes = 0;
    context.retry.backoff = milliseconds(100);
  }
  StageSurroundings(const StageSurroundings&) = delete;

  StageContext& stage() { return context.stages.front(); }
  void make_line(const delivery::RetryStep* step = nullptr) {
    line.emplace(context, stage(), nullptr, Attempts::Members{id, ledger, oldest, step}, [] {});
  }
  /// A record that the ledger has, with 100 bytes of value.
  handler::Item record(std::int64_t offset, std::optional<std::string> key = {}) {
    kafka::RecordData data;
    data.topic = "orders";
    data.partition = 3;
    data.offset = offset;
    data.key = std::move(key);
    data.value = std::string(100, 'x');
    handler::Item item;
    item.record = kafka::Record(data);
    item.sequence = ledger.append(offset);
    return item;
  }
  /// The same, given up and on its way to a topic.
  handler::Item given_up(std::int64_t offset, handler::Route route) {
    auto item = record(offset);
    item.failures = std::make_unique<handler::FailureHistory>();
    item.failures->route = route;
    item.failures->given_up = delivery::DeadLetterReason::rejected;
    return item;
  }
  /// The downstream goes out, and the first probe is due only if `probe`.
  void break_down(bool probe = false) {
    downstream.change({.breaker = {.failures = 1, .probe = std::chrono::hours(1)}}, now);
    const std::string reason = "HTTP 503";
    downstream.failed({.reason = reason}, now - (probe ? std::chrono::hours(2) : std::chrono::hours(0)));
    REQUIRE_FALSE(downstream.closed());
  }
  /// Nothing is left running.
  void end_tasks() {
    while (handler.tasks() + forward.tasks() > 0) (handler.tasks() > 0 ? handler : forward).answer({});
  }

  const CapturedLog log;
  TaskKeeper handler;
  TaskKeeper forward;  ///< stands for the retry topic and the dead-letter topic
  Downstream downstream{"shop", {.breaker = {.failures = 0}}};
  LaneContext context;
  LaneId id{{"orders", 3}, 7};
  Ledger ledger{0};
  LaneStats stats;
  LaneState state{seconds(10)};
  OldestWatch oldest{{context.lanes, context.ledger, downstream, id, ledger, state, stats}, false};
  std::optional<Line> line;
  TimePoint now = SteadyClock::now();
};

/// A workload in its surroundings: set the contexts, then begin().
struct OneStage : StageSurroundings {
  ~OneStage() {
    end_tasks();
    CHECK((!workload || workload->join(Deadline::in(seconds(60)))));
    CHECK(downstream.running() == 0);
  }
  void begin(Workload::Serves serves = Workload::Serves::all) {
    make_line();
    gate.emplace(context, id, ledger, start);
    workload.emplace(
        Workload::Members{context, stage(), *line, id, ledger, *gate, stats, [this] { ++signals; }}, serves);
  }
  /// New records, with these keys, from the offset on.
  void add(std::int64_t offset, const std::vector<std::optional<std::string>>& keys) {
    auto batch = workload->new_batch();
    for (const auto& key : keys) batch->add(record(offset++, key));
    workload->add(std::move(batch));
  }
  void add(std::int64_t offset, std::size_t records) {
    add(offset, std::vector<std::optional<std::string>>(records));
  }
  /// Gives the pool what it takes. Returns whether it has taken everything.
  bool submit() {
    while (workload->next() != nullptr)
      if (!workload->submit_next(pool::all_jobs)) return false;
    return true;
  }

  StoredCommit start{.partition = id.partition};
  std::optional<CrashGate> gate;
  std::optional<Workload> workload;
  int signals = 0;
};

}  // namespace laneway::lane
