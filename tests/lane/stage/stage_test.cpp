#include "lane/stage/stage.h"

#include <algorithm>

#include "lane/stage/one_stage.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

namespace {

/// The next stage of a test.
class NextStages final : public Onward {
 public:
  void pass_on(handler::Item done) override { passed_on.push_back(std::move(done)); }
  void end_part(handler::Item part, bool) override { ended.push_back(std::move(part)); }
  void failed_in_drain(handler::Item, Line&) override {}
  std::vector<handler::Item> passed_on;
  std::vector<handler::Item> ended;
};

/// A stage of one worker and a queue of two, without its lane.
struct StageAlone : StageSurroundings {
  StageAlone() { stage().settings.queue = 2; }
  ~StageAlone() {
    for (auto* made : {&first, &next}) {
      if (!*made) continue;
      (*made)->close();
      end_tasks();
      for (const auto& work : (*made)->works()) CHECK(work->workload.join(Deadline::in(seconds(60))));
    }
    CHECK(downstream.running() == 0);
  }
  void begin() { make(first, stage()); }
  /// Another stage, to which the first one leads.
  void begin_two() {
    StageContext second = stage();
    second.settings.name = "second";
    context.stages.push_back(second);
    stage().settings.name = "first";
    stage().then = 1;
    make(first, context.stages[0]);
    make(next, context.stages[1]);
    first->set_next(&*next);
  }
  void name_stage() { stage().settings.name = "mail"; }
  void limit_each(std::uint32_t workers) {
    name_stage();
    stage().settings.each = {.by = {config::Selector::Kind::key, ""}, .rate = {}, .workers = workers};
    stage().settings.workers = 8;
    each.emplace("mail", DownstreamRules{.breaker = {.failures = 0}}, stage().settings.each);
    stage().each = &*each;
  }

  void take(std::int64_t offset, const std::vector<std::optional<std::string>>& keys) {
    auto batch = first->workload().new_batch();
    for (const auto& key : keys) batch->add(record(offset++, key));
    first->take(std::move(batch), now);
  }
  void take(std::int64_t offset, std::size_t records) {
    take(offset, std::vector<std::optional<std::string>>(records));
  }
  /// Gives the pools what they take, as Stages::submit does.
  void submit(Stage& of) {
    do {
      for (auto* workload : {&of.failed(), &of.workload()})
        while (workload->next() != nullptr && workload->submit_next(pool::all_jobs)) {
        }
    } while (of.feed(now));
  }
  void submit() { submit(*first); }
  void collect(Stage& of) {
    for (const auto& work : of.works()) work->completions.collect(now);
  }
  void finish_one() {
    handler.answer({Outcome::done()});
    collect(*first);
  }

  NextStages onward;
  Downstream fragile{"shop", {.breaker = {.failures = 1, .window = seconds(30), .probe = seconds(5)}}};
  std::optional<CrashGate> gate;
  std::optional<KeyedLimits> each;
  std::optional<Stage> first, next;

 private:
  void make(std::optional<Stage>& made, const StageContext& of) {
    if (!gate) gate.emplace(context, id, ledger, StoredCommit{.partition = id.partition});
    made.emplace(context, of,
                 Stage::Members{{id, ledger, oldest, nullptr}, ledger, *gate, stats, onward, [] {}});
  }
};

}  // namespace

TEST_CASE_METHOD(StageAlone, "the stage of a plain service keeps no backlog and is blocked by a full pool") {
  begin();
  take(0, 5);
  submit();
  CHECK(first->waiting() == 0);
  CHECK(first->blocked(now) == bit(Hold::pool_full));
  CHECK(first->view().name.empty());
  finish_one();
  finish_one();
  submit();
  CHECK(first->blocked(now) == 0);
  CHECK(ledger.committable() == 2);
}

TEST_CASE_METHOD(StageAlone, "a stage with a name keeps what its open breaker does not let begin") {
  name_stage();
  stage().downstream = &fragile;
  begin();
  const std::string refused = "refused";
  fragile.failed({.reason = refused}, now);
  REQUIRE_FALSE(fragile.closed());
  take(0, 3);
  CHECK(first->waiting() == 3);
  CHECK(first->bytes() >= 300);
  CHECK(first->view().waiting == 3);
  first->cancel();
  CHECK(first->waiting() == 0);
  CHECK(first->bytes() == 0);
  CHECK(first->gives_back());
}

TEST_CASE_METHOD(StageAlone, "with retry_workers, failed records have a pool of their own") {
  stage().settings.retry_workers = 1;
  begin();
  REQUIRE(first->works().size() == 2);
  CHECK(&first->failed() != &first->workload());
  take(0, 3);
  submit();
  CHECK(first->blocked(now) == 0);  // one runs, and two are in the queue
  auto failed = record(3);
  failed.attempt = 2;
  first->failed().run_alone(std::move(failed), *first->lines().front());
  submit();
  CHECK(handler.tasks() == 2);
  CHECK(first->view().retries_running == 1);
  CHECK(first->workload().in_pool() == 3);
}

TEST_CASE_METHOD(StageAlone, "each subscriber has a line, and as many workers as its limit") {
  limit_each(1);
  begin();
  take(0, {"acme", "acme", "acme", "bolt"});
  CHECK(first->lines().size() == 3);  // with that of records without a subscriber
  submit();
  CHECK(handler.tasks() == 2);
  CHECK(first->waiting() == 2);
  CHECK(first->blocked(now) == 0);  // further subscribers may be free
  CHECK(first->next_due(now) <= now + milliseconds(20));
  finish_one();
  submit();
  CHECK(handler.tasks() == 2);
  CHECK(first->waiting() == 1);
}

TEST_CASE_METHOD(StageAlone, "a tick notes what waits for each subscriber, and which of them are out") {
  limit_each(1);
  begin();
  take(0, {"acme", "acme", "acme", "bolt"});
  submit();
  first->tick(now);
  const auto acme = each->find("acme");
  CHECK(acme->waiting().first == 2);
  CHECK(acme->waiting().next == 0);
  CHECK(each->find("bolt")->waiting().first == 0);
  CHECK(first->view().subscribers_out == 0);
  each->change({.breaker = {.failures = 1, .probe = std::chrono::hours(1)}}, stage().settings.each, now);
  handler.answer({Outcome::unavailable("HTTP 503")});
  collect(*first);
  first->tick(now);
  CHECK(acme->waiting().first == 2);
  CHECK(acme->waiting().next == 1);
  CHECK(first->view().waiting_attempts == 1);
  CHECK(first->view().subscribers_out == 1);
  CHECK(first->view().waiting_for_them == 3);
  first->cancel();
  first->start_over();
  first->tick(now);
  CHECK(acme->waiting().first == 0);
  CHECK(acme->waiting().next == 0);
  CHECK(first->view().subscribers_out == 0);
}

TEST_CASE_METHOD(StageAlone, "the end of a lane takes back what it has noted of a subscriber") {
  limit_each(1);
  begin();
  take(0, {"acme", "acme", "acme"});
  submit();
  first->tick(now);
  const auto acme = each->find("acme");
  REQUIRE(acme->waiting().first == 2);
  first->close();
  end_tasks();
  for (const auto& work : first->works()) CHECK(work->workload.join(Deadline::in(seconds(60))));
  first.reset();
  CHECK(acme->waiting().first == 0);
}

TEST_CASE_METHOD(StageAlone, "a record that its subscriber has not taken for too long is given up") {
  limit_each(1);
  stage().settings.each.longest_wait = seconds(10);
  context.memory.lane_bytes = 1 << 20;
  begin();
  take(0, {"acme", "acme"});
  submit();
  REQUIRE(handler.tasks() == 1);
  const auto let_leave = [&] { first->let_leave({}, now); };
  now += seconds(10);
  let_leave();
  CHECK(first->waiting() == 1);  // no subscriber has worked meanwhile, so the fault may be on this side
  each->note_worked(now);
  now += seconds(10) - nanoseconds(1);
  let_leave();
  CHECK(first->waiting() == 1);
  now += nanoseconds(1);
  let_leave();
  CHECK(first->waiting() == 0);
  submit();
  REQUIRE(forward.tasks() == 1);  // to the dead-letter topic
  forward.answer({Outcome::done()});
  collect(*first);
  CHECK(ledger.is_incomplete(0));
  CHECK_FALSE(ledger.is_incomplete(1));
}

TEST_CASE_METHOD(StageAlone, "a stage is not fed while the next one is crowded") {
  begin_two();
  auto overflow = next->workload().new_batch();
  for (std::int64_t offset = 0; offset < 5; ++offset) overflow->add(record(offset));
  next->take(std::move(overflow), now);
  submit(*next);
  REQUIRE(next->crowded());
  CHECK(first->blocked(now) == bit(Hold::pool_full));
  take(5, 1);
  submit();
  CHECK(first->waiting() == 1);
  CHECK(first->workload().in_pool() == 0);
  for (int i = 0; i < 2; ++i) {
    handler.answer({Outcome::done()});
    collect(*next);
    submit(*next);
  }
  REQUIRE_FALSE(next->crowded());
  submit();
  CHECK(first->waiting() == 0);
  CHECK(first->workload().in_pool() == 1);
}

TEST_CASE_METHOD(StageAlone, "a record that is done in a stage with a next one goes on and is not finished") {
  begin_two();
  take(0, 1);
  submit();
  finish_one();
  REQUIRE(onward.passed_on.size() == 1);
  CHECK(ledger.is_incomplete(0));
  CHECK(first->idle());
}

TEST_CASE_METHOD(StageAlone, "a stage begins as many records as there is memory for their results") {
  context.memory.lane_bytes = 1000;
  stage().settings.queue = 16;
  stage().settings.workers = 4;
  begin_two();
  take(0, 10);
  const auto* pending = first->workload().next();
  REQUIRE(pending != nullptr);
  CHECK(first->most_to_begin(*pending, 1000) == 4);  // nothing is known: as many as workers
  first->note_results(300);
  CHECK(first->most_to_begin(*pending, 1000) == 3);
  CHECK(first->most_to_begin(*pending, 600) == 2);
  CHECK(first->most_to_begin(*pending, 100) == 1);  // alone, because no stage further on would free memory
  next->take(record(10), now);
  CHECK(first->most_to_begin(*pending, 100) == 0);
}

TEST_CASE_METHOD(StageAlone,
                 "a drain that finishes nothing more gives back the backlog and what comes later") {
  limit_each(1);
  begin();
  take(0, {"acme", "acme", "acme"});
  submit();
  REQUIRE(first->waiting() == 2);
  first->begin_drain(false, Duration::zero(), 0, now);
  CHECK(first->waiting() == 0);
  CHECK_FALSE(first->workload().drained());
  take(3, {"bolt"});
  CHECK(first->waiting() == 0);
  CHECK(first->workload().next() == nullptr);
  handler.answer({Outcome::retry("too late")});
  collect(*first);
  CHECK(first->workload().drained());
  CHECK(first->lines()[1]->attempts().waiting().size() == 0);  // the next owner gets the record
  CHECK(ledger.done() == 0);
}

TEST_CASE_METHOD(StageAlone, "another log drops what waits, and what runs finishes nothing") {
  name_stage();
  begin();
  take(0, 6);
  submit();
  first->start_over();
  CHECK(first->waiting() == 0);
  handler.answer({Outcome::done()});
  collect(*first);
  CHECK(ledger.done() == 0);
}

TEST_CASE_METHOD(StageAlone, "records that still run at the end are abandoned, and counted") {
  begin();
  take(0, 3);
  submit();
  first->cancel();
  first->close();
  CHECK(first->workload().abandon(true) == 1);  // the two in the queue are given back
}

TEST_CASE_METHOD(StageAlone, "a drain keeps what fits by the workers of each subscriber") {
  limit_each(2);
  downstream.note_service_time(milliseconds(10));
  begin();
  each->find("slow")->downstream.note_service_time(seconds(2));
  each->find("fast")->downstream.note_service_time(milliseconds(10));
  take(0, std::vector<std::optional<std::string>>(10, "slow"));
  take(10, std::vector<std::optional<std::string>>(10, "fast"));
  take(20, std::vector<std::optional<std::string>>(10, "unknown"));
  submit();
  REQUIRE(handler.tasks() == 6);
  first->begin_drain(true, seconds(10), 0, now);
  // Of slow, four times two in 8 s, of which two run already.
  CHECK(first->lines()[1]->backlog().size() == 6);
  CHECK(first->lines()[1]->backlog().front().sequence == 2);
  CHECK(first->lines()[2]->backlog().size() == 8);
  CHECK(first->lines()[3]->backlog().empty());
  CHECK(first->waiting() == 14);
  take(30, {"slow", "fast"});
  CHECK(first->lines()[1]->backlog().size() == 6);  // the new one would overtake those that were given back
  CHECK(first->lines()[2]->backlog().size() == 9);
  now += seconds(5);
  first->tick(now);
  CHECK(first->lines()[1]->backlog().size() == 2);
  CHECK(first->lines()[2]->backlog().size() == 9);
  now += seconds(3);
  first->tick(now);
  CHECK(first->lines()[1]->backlog().empty());
  CHECK(first->lines()[2]->backlog().size() == 9);
}

TEST_CASE_METHOD(StageAlone, "a drain keeps what fits by the rate of each subscriber") {
  limit_each(0);
  config::Each limits = stage().settings.each;
  limits.rate = {10, 0, milliseconds(100)};
  each.emplace("mail", DownstreamRules{.breaker = {.failures = 0}}, limits);
  downstream.note_service_time(milliseconds(10));
  begin();
  each->find("acme")->downstream.note_service_time(milliseconds(10));
  take(0, std::vector<std::optional<std::string>>(100, "acme"));
  submit();
  REQUIRE(handler.tasks() == 1);
  first->begin_drain(true, seconds(5), 0, now);
  CHECK(first->waiting() == 40);
  CHECK(first->lines()[1]->bytes() > 0);
}

TEST_CASE_METHOD(StageAlone, "a drain does not count the backlog of new records for retry_workers") {
  stage().settings.retry_workers = 1;
  limit_each(8);
  downstream.note_service_time(seconds(1));
  begin();
  each->find("acme")->downstream.note_service_time(seconds(1));
  take(0, std::vector<std::optional<std::string>>(24, "acme"));
  submit();
  REQUIRE(first->waiting() == 16);
  first->begin_drain(true, seconds(10), 0, now);
  now += seconds(1);
  first->tick(now);
  CHECK(first->waiting() == 16);  // 24 fit into eight workers in 3 s, and not into one
}
