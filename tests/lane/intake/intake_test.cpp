// How a lane takes records, on a simulated partition. The stages are real, and get no record, except for
// those of a retry topic that wait for their time: so there is no thread.
#include "lane/intake/intake.h"

#include <memory>

#include "catch.h"
#include "lane/simulated_partition.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

using TakenOffsets = std::vector<std::int64_t>;

class IdleHandler final : public handler::RecordHandler {
 public:
  std::string name() const override { return "idle"; }

 private:
  handler::Outcome handle_record(const handler::Attempt& /*attempt*/) override { return {}; }
};

/// Takes records from offset 0 on; max_incomplete is 100, retry.max_waiting three.
struct TakingLane {
  explicit TakingLane(Ledger begin = Ledger(0), std::int64_t start = 0, const char* topic = "orders")
      : id{{topic, 3}, 7}, ledger(std::move(begin)), position(id, start, ledger, errors, stats) {
    steps.add("orders", {{"orders-retry", seconds(30)}});
    auto& stage = context.stages.emplace_back();
    stage.handler = &handler;
    stage.downstream = &downstream;
    context.retry_steps = &steps;
    context.retry.max_crashes = 0;
    context.retry.max_waiting = 3;
    context.lanes.max_incomplete = 100;
    context.memory.lane_bytes = 1 << 20;
    const auto* step = steps.find(topic);
    gate.emplace(context, id, ledger, StoredCommit{});
    stages.emplace(Stages::Members{context, id, ledger, oldest, *gate, step, stats}, [] {});
    intake.emplace(
        context,
        Intake::Members{ledger, position, *stages, prefetch, pause, silence, suspects, errors, stats},
        step->delayed());
  }
  /// Takes a run into a new batch.
  Take run(const RateLimiter::Room& allowed = {}) {
    batch = stages->all().front()->workload().new_batch();
    return intake->run(source, *batch, allowed, now);
  }
  TakenOffsets taken() const {
    TakenOffsets offsets;
    for (const auto& item : batch->items) offsets.push_back(item.record.offset());
    return offsets;
  }
  std::vector<Sequence> numbers() const {
    std::vector<Sequence> sequences;
    for (const auto& item : batch->items) sequences.push_back(item.sequence);
    return sequences;
  }

  TimePoint now{seconds(1000)};
  Partition partition;
  SimulatedSource source{partition};
  LaneId id;
  delivery::RetrySteps steps;
  IdleHandler handler;
  Downstream downstream{"none", {.breaker = {.failures = 0}}};
  LaneContext context;
  LaneStats stats;
  LaneState state{seconds(1)};
  Ledger ledger;
  Suspects suspects{{2, 4}};
  SourceErrors errors{id};
  LogPosition position;
  OldestWatch oldest{{context.lanes, context.ledger, downstream, id, ledger, state, stats}, false};
  std::optional<CrashGate> gate;
  LaneRate rate{nullptr};
  PrefetchWatch prefetch{context.memory.fetch};
  FetchPause pause{state, rate};
  LaneSilence silence{context, id.partition};
  std::optional<Stages> stages;
  Workload::BatchPtr batch;
  std::optional<Intake> intake;
};

struct TakingRetryTopic : TakingLane {
  TakingRetryTopic() : TakingLane(Ledger(0), 0, "orders-retry") {}
};

}  // namespace

TEST_CASE_METHOD(TakingLane,
                 "a run has at most as many records as the rate allows, and goes on behind them") {
  partition.add_run(0, 5);
  CHECK(run({.records = 3}) == Take::more);
  CHECK(taken() == TakenOffsets{0, 1, 2});
  CHECK(numbers() == std::vector<Sequence>{0, 1, 2});
  CHECK(ledger.window() == 3);
  CHECK(run({.records = 2}) == Take::more);
  CHECK(taken() == TakenOffsets{3, 4});
  CHECK(numbers() == std::vector<Sequence>{3, 4});
  CHECK(position.first() == 0);
  CHECK(position.next() == 5);
}

TEST_CASE_METHOD(TakingLane, "a run has at most as many records as fit into the queue of the pool") {
  context.stages.front().settings.queue = 2;
  partition.add_run(0, 5);
  CHECK(run() == Take::more);
  CHECK(taken() == TakenOffsets{0, 1});
}

TEST_CASE_METHOD(TakingLane, "an empty source is not asked again before it signals") {
  CHECK(intake->not_empty());  // before the first run nothing is known
  partition.add(0);
  CHECK(run() == Take::empty);
  CHECK(taken() == TakenOffsets{0});
  CHECK_FALSE(intake->not_empty());
  CHECK(prefetch.is_dry());
  intake->signalled();
  CHECK(intake->not_empty());
  CHECK(run() == Take::empty);
  CHECK(taken().empty());
}

TEST_CASE_METHOD(TakingLane, "the records up to max_incomplete are taken, and the window counts") {
  context.lanes.max_incomplete = 4;
  partition.add_run(0, 10);
  CHECK(intake->has_window());
  CHECK(run() == Take::more);
  CHECK(taken() == TakenOffsets{0, 1, 2, 3});
  CHECK_FALSE(intake->has_window());
  CHECK_FALSE(intake->has_room());
  ledger.complete(1, 3);
  CHECK_FALSE(intake->has_window());
  ledger.complete(0);
  CHECK(intake->has_window());
}

TEST_CASE_METHOD(TakingLane, "a run ends with the record that fills the lane's share of the memory") {
  context.memory.lane_bytes = 2 * (record_overhead + 100);
  partition.add_run(0, 5, 100);
  CHECK(intake->has_room());
  CHECK(run() == Take::more);
  CHECK(taken() == TakenOffsets{0, 1});
  intake->set_exceeds_memory(true);
  CHECK(run() == Take::empty);
  CHECK(taken() == TakenOffsets{2, 3, 4});
}

TEST_CASE_METHOD(TakingLane, "a record that is larger than the lane's share of the memory is taken alone") {
  context.memory.lane_bytes = 1000;
  partition.add_run(0, 2, 5000);
  CHECK(run() == Take::more);
  CHECK(taken() == TakenOffsets{0});
}

TEST_CASE_METHOD(TakingLane, "a run ends with the record that uses up the bytes of the rate") {
  partition.add_run(0, 5, 100);
  CHECK(run({.bytes = 1}) == Take::more);
  CHECK(taken() == TakenOffsets{0});
}

TEST_CASE_METHOD(TakingLane, "gaps between offsets leave the numbers of the records dense") {
  for (const auto offset : {0, 1, 5, 6, 9}) partition.add(offset);
  CHECK(run() == Take::empty);
  CHECK(numbers() == std::vector<Sequence>{0, 1, 2, 3, 4});
  CHECK(ledger.offset_of(2) == 5);
  CHECK(ledger.offset_of(4) == 9);
}

// What an earlier life knew

TEST_CASE("records that an earlier life has finished are complete at once, and do not run") {
  TakingLane test(Ledger(CompletionMap{0, {{1, 3}, {4, 5}}}));
  test.partition.add_run(0, 7);
  CHECK(test.run() == Take::empty);
  CHECK(test.taken() == TakenOffsets{0, 3, 5, 6});
  CHECK(test.numbers() == std::vector<Sequence>{0, 3, 5, 6});
  CHECK_FALSE(test.batch->consecutive);
  CHECK(test.stats.suppressed.get() == 3);
  CHECK(test.ledger.incomplete() == 4);
  CHECK(test.batch->items[0].left_behind);
  CHECK(test.batch->items[1].left_behind);
  CHECK_FALSE(test.batch->items[2].left_behind);
}

TEST_CASE_METHOD(TakingLane, "the suspects of an earlier life are suspects") {
  partition.add_run(0, 5);
  CHECK(run() == Take::empty);
  for (const auto& item : batch->items)
    CHECK(item.suspect == (item.record.offset() == 2 || item.record.offset() == 4));
}

TEST_CASE_METHOD(TakingLane, "after the log was replaced, the numbers of the records begin again") {
  partition.add_run(0, 3);
  (void)run();
  ledger = Ledger(3);
  intake->start_over();
  partition.add(3);
  (void)run();
  CHECK(numbers() == std::vector<Sequence>{0});
}

// The end of the log, and what cannot be read

TEST_CASE_METHOD(TakingLane, "the end of the log moves the position, and the run goes on behind it") {
  partition.add_run(0, 2);
  partition.add_end(4);  // control records
  partition.add(4);
  CHECK(run() == Take::empty);
  CHECK(taken() == TakenOffsets{0, 1, 4});
  ledger.complete(0, 2);
  CHECK(ledger.committable() == 4);
  CHECK(position.next() == 5);
}

TEST_CASE_METHOD(TakingLane, "a run that finds only the end of the log counts what retention has deleted") {
  partition.log_start = 50;
  partition.add_end(50);
  CHECK(run() == Take::empty);
  CHECK(stats.expired.get() == 50);
  CHECK(ledger.committable() == 50);
}

TEST_CASE_METHOD(TakingLane, "an offset that goes back ends the run, and the records before it are kept") {
  partition.add_run(0, 3);
  if (GENERATE(true, false))
    partition.add(1);
  else
    partition.add_end(1);
  partition.add(3);
  CHECK(run() == Take::empty);
  CHECK(taken() == TakenOffsets{0, 1, 2});
  CHECK(ledger.window() == 3);
  CHECK(position.in_doubt());
  CHECK(intake->not_empty());
}

TEST_CASE_METHOD(TakingLane, "a corrupt batch ends the run, and its error says what to do") {
  const auto [kind, words] = GENERATE(table<kafka::Pop, std::string>(
      {{kafka::Pop::corrupt, "the batch of records at offset 2 is corrupt"},
       {kafka::Pop::not_decompressed, "raise kafka.receive.message.max.bytes"}}));
  partition.add_run(0, 2);
  partition.log.push_back({kind, 2, {}, 0});
  partition.add_run(2, 5);  // what a client may deliver after the corrupt batch
  CHECK(run() == Take::empty);
  CHECK(taken() == TakenOffsets{0, 1});
  CHECK(position.blocked());
  CHECK(errors.why().find(words) != std::string::npos);
  CHECK(errors.why().find("skip") == std::string::npos);
}

TEST_CASE_METHOD(TakingLane, "an error is over when a record comes after it") {
  partition.log.push_back({kafka::Pop::error, 0, {}, 0});
  CHECK(run() == Take::empty);
  CHECK(errors.any());
  partition.add_run(0, 2);
  CHECK(run() == Take::empty);
  CHECK(taken() == TakenOffsets{0, 1});
  CHECK_FALSE(errors.any());
}

TEST_CASE_METHOD(TakingLane, "an error is over when the end of the log comes after it") {
  partition.log.push_back({kafka::Pop::error, 0, {}, 0});
  partition.add_end(0);
  CHECK(run() == Take::empty);
  CHECK_FALSE(errors.any());
}

// The beginning, and the end of a pause

TEST_CASE("the beginning of an unknown position is found without taking a record") {
  TakingLane test(Ledger(), kafka::no_offset);
  test.intake->find_beginning(test.source, test.now);
  CHECK(test.position.next() == -1);  // nothing has come yet
  test.partition.add_run(7, 9);
  test.intake->find_beginning(test.source, test.now);
  CHECK(test.position.next() == 7);
  CHECK(test.position.delivered() == -1);
  CHECK(test.ledger.committable() == 7);
  CHECK(test.run() == Take::empty);
  CHECK(test.taken() == TakenOffsets{7, 8});
}

TEST_CASE("the end of an empty log is a beginning as well, and an error is not") {
  TakingLane test(Ledger(), kafka::no_offset);
  test.partition.log.push_back({kafka::Pop::error, 0, {}, 0});
  test.intake->find_beginning(test.source, test.now);
  CHECK(test.position.next() == -1);
  CHECK(test.errors.any());
  test.partition.add_end(7);
  test.intake->find_beginning(test.source, test.now);
  CHECK(test.position.next() == 7);
  CHECK(test.partition.calls.empty());
  CHECK_FALSE(test.errors.any());
}

TEST_CASE_METHOD(TakingLane, "the records that are read again after a pause are not taken twice") {
  partition.add_run(0, 3);
  (void)run();
  source.resume(position.resumes_at({0, 5}));
  partition.add_run(3, 5);
  intake->resumed(now);
  now += milliseconds(30);
  CHECK(run() == Take::empty);
  CHECK(taken() == TakenOffsets{3, 4});
  CHECK(stats.resume_latency.snapshot().sum == milliseconds(30));
  partition.add_run(5, 6);
  now += milliseconds(30);
  CHECK(run() == Take::empty);
  CHECK(stats.resume_latency.snapshot().sum == milliseconds(30));  // of the first record only
}

// Retry topics

TEST_CASE_METHOD(TakingRetryTopic, "a record of a retry topic that is not due waits, and is not in the run") {
  partition.add_run(0, 2);
  partition.log.push_back({kafka::Pop::record, 2, {}, 0, 1});  // written in 1970
  CHECK(run() == Take::more);
  CHECK(taken() == TakenOffsets{2});
  CHECK(numbers() == std::vector<Sequence>{2});
  CHECK_FALSE(batch->consecutive);
  CHECK(stages->waiting_attempts() == 2);
  CHECK(ledger.incomplete() == 3);
}

TEST_CASE_METHOD(TakingRetryTopic, "a retry topic is read until retry.max_waiting records wait") {
  partition.add_run(0, 10);
  CHECK(run() == Take::more);
  CHECK(stages->waiting_attempts() == 3);
  CHECK(position.next() == 3);
  CHECK_FALSE(intake->has_window());
  CHECK_FALSE(intake->has_room());
}
