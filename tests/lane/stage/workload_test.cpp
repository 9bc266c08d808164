// The queued and running work of a stage: what begins and in which order, what waits, and what is given back.
#include "lane/stage/workload.h"

#include <algorithm>

#include "lane/stage/one_stage.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;
using handler::Route;

namespace {

using RecordOffsets = std::vector<std::int64_t>;

struct Worked : OneStage {
  ~Worked() { end_tasks(); }
  /// Takes back what has finished. In order, the next records of its keys go on.
  void take_finished() {
    std::vector<handler::Finished> finished;
    workload->collect(finished);
    for (const auto& each : finished) {
      const auto& range = each.claim.range;
      auto& batch = batch_of(range);
      if (workload->current(batch) && workload->ordered()) release(batch, range);
      workload->finish(batch, range.count());
    }
  }
  void release(const WorkBatch& batch, const pool::Range& range) {
    for (auto i = range.begin; i < range.end; ++i)
      if (batch.items[i].key != 0 && (!batch.sequential || i == range.begin))
        workload->release_key(batch.items[i].key);
  }
  void finish_oldest() {
    handler.answer(std::vector<Outcome>(handler.oldest().size()));
    take_finished();
  }
  /// Runs everything to its end. Returns the offsets in the order in which they began.
  RecordOffsets run_all() {
    RecordOffsets begun;
    for (submit(); handler.tasks() > 0; submit()) {
      const auto offsets = handler.offsets();
      begun.insert(begun.end(), offsets.begin(), offsets.end());
      finish_oldest();
    }
    return begun;
  }
  /// The offsets of the batch that is submitted next; empty if there is none.
  RecordOffsets next_offsets() const {
    RecordOffsets offsets;
    if (workload->next() == nullptr) return offsets;
    for (const auto& item : workload->next()->batch->items) offsets.push_back(item.offset());
    return offsets;
  }
  handler::Item failed(std::int64_t offset) { return given_up(offset, Route::work); }
};

}  // namespace

TEST_CASE("the pool takes as many records as there are workers and places, and room for the others signals") {
  Worked test;
  test.stage().settings.queue = 2;
  test.begin();
  test.add(40, 5);
  CHECK_FALSE(test.submit());
  CHECK(test.workload->in_pool() == 3);
  CHECK(test.workload->records() == 5);
  REQUIRE(test.workload->next() != nullptr);
  CHECK(test.workload->next()->begin == 3);
  CHECK(test.handler.offsets() == RecordOffsets{40});
  CHECK(test.signals == 0);
  test.finish_oldest();
  CHECK(test.signals == 1);
  CHECK(test.run_all() == RecordOffsets{41, 42, 43, 44});
  CHECK(test.workload->drained());
  CHECK(test.stats.submissions.accepted.get() == 5);
}

TEST_CASE("a limit of records to begin leaves the others of the batch to the next submission") {
  Worked test;
  test.begin();
  test.add(40, 5);
  CHECK(test.workload->submit_next(2));
  CHECK(test.workload->in_pool() == 2);
  CHECK(test.workload->next()->begin == 2);
  CHECK(test.run_all() == RecordOffsets{40, 41, 42, 43, 44});
}

TEST_CASE("records for a topic begin before all others, and failed records take turns with new ones") {
  Worked test;
  test.begin();
  test.add(40, 4);
  REQUIRE(test.submit());
  test.workload->run_alone(test.failed(50));
  test.workload->run_alone(test.failed(51));
  test.workload->run_alone(test.given_up(52, Route::dead_letter));
  REQUIRE(test.submit());
  CHECK(test.handler.offsets() == RecordOffsets{40});
  test.finish_oldest();
  REQUIRE(test.forward.tasks() == 1);
  CHECK(test.forward.offsets() == RecordOffsets{52});
  test.forward.answer({Outcome::done()});
  test.take_finished();
  const auto begun = test.run_all();
  CHECK(begun.size() == 5);
  const auto place = [&](std::int64_t offset) { return std::find(begun.begin(), begun.end(), offset); };
  CHECK(place(51) < place(43));
  CHECK(place(41) < place(51));
}

TEST_CASE("in careful mode, records begin in the order in which they came") {
  const bool careful = GENERATE(false, true);
  Worked test;
  test.context.retry.max_crashes = 3;
  if (careful) test.start.lives.lives = CrashWatch::careful_from;
  test.begin();
  CHECK(test.gate->careful() == careful);
  test.add(40, 1);
  test.workload->run_alone(test.given_up(41, Route::dead_letter));
  CHECK(test.next_offsets() == RecordOffsets{careful ? 40 : 41});
}

TEST_CASE("a run of records fits the queue, and has at most 256 records") {
  Worked test;
  test.begin();
  for (const auto& [queue, run] : {std::pair{0U, 1U}, {100U, 100U}, {1000U, 256U}}) {
    test.stage().settings.queue = queue;
    CHECK(test.workload->run_limit() == run);
  }
}

TEST_CASE("in order by key, a key has one batch at a time, and the records of other keys pass") {
  Worked test;
  test.stage().settings.queue = 2;
  test.context.lanes.order = GENERATE(config::Order::none, config::Order::key);
  const bool ordered = test.context.lanes.order == config::Order::key;
  test.begin();
  test.add(40, {"a", "a", "b", std::nullopt, "a"});
  CHECK(test.next_offsets() == (ordered ? RecordOffsets{40, 42, 43} : RecordOffsets{40, 41, 42, 43, 44}));
  CHECK(test.workload->keys_wait() == ordered);
  CHECK(test.workload->many_wait_for_keys() == ordered);
  CHECK(test.workload->records() == 5);
  if (!ordered) return;
  CHECK(test.run_all() == RecordOffsets{40, 42, 43, 41, 44});
}

TEST_CASE("records without a key run in order among each other if the configuration says so") {
  Worked test;
  test.context.lanes.order = config::Order::key;
  test.context.lanes.null_keys = GENERATE(config::NullKeys::ordered, config::NullKeys::unordered);
  const bool ordered = test.context.lanes.null_keys == config::NullKeys::ordered;
  test.begin();
  test.add(40, 3);
  CHECK(test.next_offsets() == (ordered ? RecordOffsets{40} : RecordOffsets{40, 41, 42}));
}

TEST_CASE("in order by partition one record runs first, and then slices as long as the limit allows") {
  Worked test;
  test.handler.most = 8;
  test.context.lanes.order = config::Order::partition;
  test.begin();
  test.add(40, 8);
  CHECK(test.next_offsets() == RecordOffsets{40});
  const bool limited = GENERATE(false, true);
  if (limited) test.workload->limit_slice(3);
  REQUIRE(test.submit());
  test.handler.answer({Outcome::done()});
  test.take_finished();
  // The slice of the first release was measured with it.
  CHECK(test.next_offsets() ==
        (limited ? RecordOffsets{41, 42, 43} : RecordOffsets{41, 42, 43, 44, 45, 46, 47}));
  CHECK(test.workload->next()->batch->sequential);
  CHECK(test.run_all().size() == 7);
}

TEST_CASE("the memory of records counts until they finish, in each order and wherever they wait") {
  Worked test;
  test.context.lanes.order = GENERATE(config::Order::none, config::Order::key, config::Order::partition);
  test.stage().settings.queue = 2;
  test.begin();
  test.add(40, {"a", "a", "b", "a", "b", "c"});
  test.workload->run_alone(test.failed(50));
  const auto each = 101 + record_overhead;
  CHECK(test.workload->bytes() == 7 * each - 1);  // one has no key
  CHECK(test.run_all().size() == 7);
  CHECK(test.workload->bytes() == 0);
  CHECK(test.workload->idle());
  CHECK(test.stats.processed_bytes.get() == 7 * 101 - 1);
}

TEST_CASE("a batch that is used again has nothing of its last life") {
  Worked test;
  test.begin();
  test.workload->run_alone(test.given_up(40, Route::dead_letter));
  REQUIRE(test.submit());
  test.forward.answer({Outcome::done()});
  test.take_finished();
  const auto batch = test.workload->new_batch();
  CHECK(batch->items.empty());
  CHECK(batch->route == Route::work);
  CHECK(batch->turn == pool::Turn::in_order);
  CHECK(batch->consecutive);
  CHECK(batch->bytes == 0);
  CHECK(batch->size_in_bytes == 0);
}

TEST_CASE("a drain that begins nothing more gives back pending, queued and waiting records") {
  Worked test;
  test.stage().settings.queue = 1;
  test.context.lanes.order = GENERATE(config::Order::none, config::Order::key);
  test.begin();
  test.add(40, {"a", "a", "b", "c", "d"});
  test.submit();
  test.workload->drain(false, {});
  CHECK(test.workload->records() == 1);
  CHECK(test.workload->next() == nullptr);
  CHECK_FALSE(test.workload->keys_wait());
  CHECK(test.workload->bytes() == 101 + record_overhead);
  CHECK_FALSE(test.workload->drained());
  CHECK(test.handler.oldest().wanted_back());
  test.finish_oldest();
  CHECK(test.signals > 0);  // each finished claim signals
  CHECK(test.workload->drained());
  CHECK(test.workload->bytes() == 0);
}

TEST_CASE("a drain with time left keeps as many records as fit by the time of a record") {
  struct Case {
    Duration service{};
    Duration left{};
    std::uint64_t records = 0;
  };
  for (const auto& [service, left, records] :
       {Case{seconds(1), seconds(100), 5}, Case{seconds(1), seconds(3), 3}, Case{{}, seconds(100), 1},
        Case{seconds(1), {}, 1}}) {
    Worked test;
    test.begin();
    test.downstream.note_service_time(service);
    test.add(40, 5);
    REQUIRE(test.submit());
    CHECK(test.workload->estimated_service_time() == service);
    CHECK(test.workload->fits(left) == (records == 5));
    test.workload->drain(true, left);
    CHECK(test.workload->records() == records);
    CHECK(test.workload->bytes() == records * (100 + record_overhead));
  }
}

TEST_CASE("the estimate of a drain counts the longest row of one key, and records that are still to come") {
  Worked test;
  test.stage().settings.workers = 4;
  test.context.lanes.order = config::Order::key;
  test.begin();
  CHECK(test.workload->fits({}));  // nothing is known, and there is nothing to do
  CHECK_FALSE(test.workload->fits(std::chrono::hours(1), 1));
  test.downstream.note_service_time(seconds(1));
  test.add(40, {"a", "a", "a", "a"});
  REQUIRE(test.submit());
  CHECK_FALSE(test.workload->fits(seconds(5)));
  CHECK(test.workload->fits(seconds(5) + milliseconds(1)));
  CHECK_FALSE(test.workload->fits(seconds(5) + milliseconds(1), 100));
}

TEST_CASE("a cancelled workload asks the running records to stop, and keeps no other") {
  Worked test;
  test.begin();
  test.add(40, 3);
  REQUIRE(test.submit());
  CHECK_FALSE(test.handler.oldest().attempt(0).stop.stop_requested());
  test.workload->cancel();
  CHECK(test.handler.oldest().attempt(0).stop.stop_requested());
  CHECK(test.workload->records() == 1);
}

TEST_CASE("a closed workload begins no record") {
  Worked test;
  test.begin();
  test.workload->pool().close();
  test.add(40, 1);
  CHECK_FALSE(test.submit());
  CHECK(test.workload->in_pool() == 0);
}

TEST_CASE("records of a log that was replaced do not count, and records of the new log do") {
  Worked test;
  test.context.lanes.order = GENERATE(config::Order::none, config::Order::key);
  test.stage().settings.queue = 0;
  test.begin();
  test.add(40, {"a", "a", "b"});
  test.submit();
  int running = 0;
  const auto count = [&](const handler::Item&) { ++running; };
  test.workload->each_at_work(count);
  CHECK(running == 1);
  test.workload->start_over();
  test.workload->each_at_work(count);
  CHECK(running == 1);
  CHECK(test.workload->next() == nullptr);
  CHECK_FALSE(test.workload->keys_wait());
  test.add(50, {"a"});
  test.finish_oldest();
  CHECK(test.run_all() == RecordOffsets{50});
  CHECK(test.workload->bytes() == 0);
}

TEST_CASE("abandoned records are those that workers have not answered") {
  Worked test;
  test.stage().settings.workers = 2;
  test.begin();
  test.add(40, 4);
  REQUIRE(test.submit());
  test.finish_oldest();
  CHECK(test.workload->abandon(true) == 2);
  CHECK(test.log.lines({"abandoned", "topic=orders partition=3", "offset=41", "epoch=7"}) == 1);
  CHECK(test.log.lines({"abandoned", "offset=42"}) == 1);
  CHECK(test.log.lines({"abandoned"}) == 2);
}

TEST_CASE("a record that ignores its stop is reported once, and another record begins in its place") {
  Worked test;
  test.begin();
  test.add(40, 2);
  REQUIRE(test.submit());
  const auto begun = SteadyClock::now();
  test.workload->tick(begun + std::chrono::hours(1) + seconds(1));
  CHECK(test.handler.oldest().attempt(0).stop.stop_requested());
  CHECK(test.handler.tasks() == 1);
  for (int i = 0; i < 2; ++i) test.workload->tick(begun + std::chrono::hours(1) + seconds(20));
  CHECK(test.log.lines({"handler stuck", "offset=40", "handler=keeper"}) == 1);
  CHECK(test.handler.tasks() == 2);
}

TEST_CASE("the pool of failed records has the workers that the settings give it") {
  Worked test;
  test.stage().settings.workers = 7;
  test.stage().settings.retry_workers = GENERATE(0, 3);
  test.begin(Workload::Serves::failed);
  CHECK(test.workload->pool().limits().workers == std::max(test.stage().settings.retry_workers, 1U));
  test.stage().settings.retry_workers = 5;
  test.stage().settings.queue = 9;
  test.workload->follow_settings();
  CHECK(test.workload->pool().limits().workers == 5);
  CHECK(test.workload->pool().limits().queue == 9);
}

TEST_CASE("the pool follows an adaptive limit up to its own workers, and each claim is one record") {
  Worked test;
  AdaptiveLimit limit({.algorithm = config::AdaptiveAlgorithm::aimd, .min = GENERATE(2U, 32U)}, 64);
  test.stage().settings.workers = 8;
  test.stage().adaptive = &limit;
  test.begin();
  CHECK(test.workload->pool().limits().most_per_claim == 1);
  test.workload->tick(test.now);
  CHECK(test.workload->pool().limits().workers == std::min(limit.limit(), 8U));
}

TEST_CASE("the measured time of a record is passed on to the lanes that share the downstream") {
  Worked test;
  test.begin();
  CHECK(test.workload->estimated_service_time() == Duration::zero());
  test.add(40, 1);
  test.run_all();
  CHECK(test.downstream.service_time() == Duration::zero());
  test.workload->tick(test.now);
  CHECK(test.downstream.service_time() > Duration::zero());
  CHECK(test.downstream.service_time() == test.workload->service_time());
}

TEST_CASE_METHOD(OneStage, "records that are given back are no processed bytes") {
  begin();
  add(0, 3);
  REQUIRE(submit());
  add(3, 2);
  workload->drain(false, Duration::zero());
  handler.answer({handler::Outcome::done()});
  std::vector<handler::Finished> finished;
  workload->collect(finished);
  REQUIRE(finished.size() == 1);
  workload->finish(batch_of(finished.front().claim.range), 1);
  CHECK(workload->drained());
  CHECK(stats.processed_bytes.get() == 100);
}
