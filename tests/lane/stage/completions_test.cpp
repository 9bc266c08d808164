// What comes back from the workers: for each event of the table of a record's life, who has the record then.
#include "lane/stage/completions.h"

#include "handler/gathering.h"
#include "lane/stage/between_stages.h"
#include "lane/stage/one_stage.h"
#include "lane/state/record_life.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;
using handler::Route;

namespace {

/// Keeps the records that have finished in this stage and are not finished.
struct KeptOnward final : Onward {
  void pass_on(handler::Item done) override { passed.push_back(std::move(done)); }
  void end_part(handler::Item part, bool given_up) override {
    parts.push_back(std::move(part));
    parts_given_up += given_up ? 1 : 0;
  }
  void failed_in_drain(handler::Item, Line&) override { ++failed_in_drains; }
  std::vector<handler::Item> passed;
  std::vector<handler::Item> parts;
  int parts_given_up = 0;
  int failed_in_drains = 0;
};

struct Completed : OneStage {
  ~Completed() { end_tasks(); }
  void begin() {
    OneStage::begin();
    completions.emplace(ledger, *gate, *workload, onward);
  }
  void collect() { completions->collect(now); }
  /// A drain; `finish`: the records that have not begun run, too.
  void drain(bool finish) { workload->drain(finish, std::chrono::hours(1)); }
  bool waits(std::int64_t offset) {
    bool found = false;
    line->attempts().waiting().each([&](const auto& item) { found = found || item.offset() == offset; });
    return found;
  }
  /// Who has the record, if the stage has no other one in its workload.
  RecordOwner owner_of_only(std::int64_t offset) {
    if (!ledger.incomplete_at(offset)) return RecordOwner::ledger;
    if (!onward.passed.empty()) return RecordOwner::next_stage;
    if (!onward.parts.empty()) return RecordOwner::sub_jobs;
    if (waits(offset)) return RecordOwner::attempts;
    if (handler.tasks() + forward.tasks() > 0) return RecordOwner::worker;
    if (workload->next() != nullptr || workload->keys_wait()) return RecordOwner::stage;
    CHECK(workload->idle());
    return RecordOwner::next_consumer;
  }
  /// Runs the record that waits, after its delay.
  void run_waiting() {
    REQUIRE(line->attempts().next_due());
    now = std::max(now, *line->attempts().next_due());
    auto item = line->attempts().pop_unwritten(now);
    if (!item) item = line->attempts().pop(now, false);
    REQUIRE(item);
    if (line->attempts().begins(*item, now)) workload->run_alone(std::move(*item));
  }
  /// The worker of the oldest task is at this record; those before it are done.
  void run_up_to(std::uint32_t running) {
    auto& task = handler.oldest();
    for (std::uint32_t i = 0; i <= running; ++i) {
      REQUIRE(task.next());
      if (i < running) task.answer(i, Outcome::done());
    }
  }
  /// The same, and the claim has lasted for longer than it may.
  void until_overdue(std::uint32_t running) {
    run_up_to(running);
    workload->tick(SteadyClock::now() + seconds(1));
    completions->collect_overdue();
  }
  /// Nothing is left in the stage.
  void check_empty() {
    CHECK(workload->idle());
    CHECK(workload->drained());
    CHECK(workload->bytes() == 0);
    CHECK(workload->in_pool() == 0);
    CHECK_FALSE(workload->keys_wait());
  }

  KeptOnward onward;
  std::optional<Completions> completions;
};

/// An answer to a running record, what has happened then, and who has the record: in a drain, too.
struct EndOfRun {
  const char* what = "";
  std::optional<Outcome> answer{};  // nullopt: the worker gives the record back, or never had it
  RecordEvent event{};
  RecordOwner owner{};
  RecordOwner in_drain{};
  Route route = Route::work;
  bool passes_on = false;
};

std::vector<EndOfRun> ends_of_runs() {
  using E = RecordEvent;
  using O = RecordOwner;
  constexpr auto later = O::next_consumer;
  const auto several = Outcome::done(handler::Parts(2));
  return {
      {"done", Outcome::done(), E::done, O::ledger, O::ledger},
      {"passed on", Outcome::done(), E::passed_on, O::next_stage, O::next_stage, Route::work, true},
      {"failed", Outcome::retry("no"), E::failed, O::attempts, later},
      {"failed before the last stage", Outcome::retry("no"), E::failed, O::attempts, later, Route::work,
       true},
      {"throttled", throttled(), E::failed, O::attempts, later},
      {"given up", Outcome::reject("bad"), E::given_up, O::stage, later},
      {"withheld", std::nullopt, E::withheld, O::attempts, later},
      {"unanswered", std::nullopt, E::unanswered, O::stage, later},
      {"dead letter written", Outcome::done(), E::written, O::ledger, O::ledger, Route::dead_letter},
      {"dead letter not written", Outcome::unavailable("no broker"), E::not_written, O::attempts, later,
       Route::dead_letter},
      {"written to the retry topic", Outcome::done(), E::written, O::ledger, O::ledger, Route::retry_topic,
       true},
      {"refused by the retry topic", Outcome::reject("too large"), E::given_up, O::stage, later,
       Route::retry_topic},
  };
}

}  // namespace

TEST_CASE("after the end of its run, a record is where the table says") {
  const bool drains = GENERATE(false, true);
  for (const auto& row : ends_of_runs()) {
    INFO(row.what << (drains ? ", in a drain" : ""));
    CHECK(after(RecordState::running, row.event).owner == row.owner);
    Completed test;
    test.stage().then = row.passes_on ? 1 : -1;
    test.begin();
    if (row.route == Route::work)
      test.add(40, 1);
    else
      test.workload->run_alone(test.given_up(40, row.route));
    CHECK(test.owner_of_only(40) == RecordOwner::stage);
    if (row.event == RecordEvent::withheld) test.break_down();
    REQUIRE(test.submit());
    const bool begins = row.event != RecordEvent::withheld;
    if (begins) CHECK(test.owner_of_only(40) == RecordOwner::worker);
    if (drains) test.drain(false);
    auto& topic = row.route == Route::work ? test.handler : test.forward;
    if (begins) topic.answer(row.answer ? std::vector{*row.answer} : std::vector<Outcome>{});
    test.collect();
    CHECK(test.owner_of_only(40) == (drains ? row.in_drain : row.owner));
    CHECK(test.ledger.take_completed() == (row.owner == RecordOwner::ledger ? 1 : 0));
    if (row.owner != RecordOwner::stage || drains) test.check_empty();
  }
}

TEST_CASE("a record that is done with several results is split by the next stage") {
  Completed test;
  test.stage().then = 1;
  test.begin();
  test.add(40, 1);
  REQUIRE(test.submit());
  test.handler.answer({Outcome::done(handler::Parts(2))});
  test.collect();
  REQUIRE(test.onward.passed.size() == 1);
  CHECK(test.ledger.is_incomplete(0));
  std::uint64_t bytes = 0;
  std::vector<handler::Item> sub_jobs;
  CHECK(pass_on(test.onward.passed.front(), -1, {bytes, bytes}, sub_jobs) == RecordEvent::split_up);
  CHECK(sub_jobs.size() == 2);
  CHECK(after(RecordState::running, RecordEvent::split_up).owner == RecordOwner::sub_jobs);
}

TEST_CASE("the end of a sub-job goes to the record that was split, and the ledger waits for the others") {
  std::uint64_t bytes = 0;
  Completed test;
  test.begin();
  const bool given_up = GENERATE(false, true);
  auto whole = test.record(40);
  auto part = test.record(40 + 1);
  part.begin_progress().gathering = std::make_shared<handler::Gathering>(
      std::move(whole), 0, 2, -1, handler::Gathering::Memory{bytes, bytes});
  test.workload->run_alone(std::move(part));
  REQUIRE(test.submit());
  test.handler.answer({given_up ? Outcome::reject("bad") : Outcome::done()});
  test.collect();
  if (given_up) {
    CHECK(test.onward.parts.empty());  // not before the topic has the record
    REQUIRE(test.submit());
    CHECK(test.forward.offsets() == std::vector<std::int64_t>{40});  // the record as it was read
    test.forward.answer({Outcome::done()});
    test.collect();
  }
  CHECK(test.onward.parts.size() == 1);
  CHECK(test.onward.parts_given_up == (given_up ? 1 : 0));
  CHECK(test.ledger.done() == 0);
  CHECK(test.ledger.take_completed() == 0);
  test.check_empty();
}

TEST_CASE("each record of a claim follows its own answer, also if several have failed") {
  Completed test;
  test.handler.most = 8;
  test.begin();
  test.add(40, 5);
  REQUIRE(test.submit());
  test.handler.answer(
      {Outcome::retry("first"), Outcome::done(), Outcome::reject("second"), Outcome::unavailable("third")});
  test.collect();
  CHECK_FALSE(test.ledger.incomplete_at(41));
  CHECK(test.ledger.take_completed() == 1);
  CHECK(test.line->attempts().waiting().size() == 2);
  test.line->attempts().waiting().each([](const auto& item) {
    CHECK((item.offset() == 40 || item.offset() == 43));
    CHECK(item.failures->reason == (item.offset() == 40 ? "first" : "third"));
  });
  REQUIRE(test.submit());
  CHECK(test.forward.offsets() == std::vector<std::int64_t>{42});
  CHECK(test.handler.tasks() == 0);  // one worker
  test.forward.answer({Outcome::done()});
  CHECK(test.handler.offsets() == std::vector<std::int64_t>{44});
  test.handler.answer({Outcome::done()});
  test.collect();
  CHECK(test.ledger.take_completed() == 2);
  test.check_empty();
  CHECK(test.ledger.committable() == 40);
}

TEST_CASE("a failed record that is due runs again and finishes, and so does a dead letter that was refused") {
  const auto route = GENERATE(Route::work, Route::dead_letter);
  Completed test;
  test.begin();
  auto& topic = route == Route::work ? test.handler : test.forward;
  if (route == Route::work)
    test.add(40, 1);
  else
    test.workload->run_alone(test.given_up(40, route));
  REQUIRE(test.submit());
  topic.answer({Outcome::retry("no")});
  test.collect();
  CHECK(test.owner_of_only(40) == RecordOwner::attempts);
  test.run_waiting();
  CHECK(test.owner_of_only(40) == after(RecordState::waiting, RecordEvent::due).owner);
  REQUIRE(test.submit());
  topic.answer({Outcome::done()});
  test.collect();
  CHECK(test.owner_of_only(40) == RecordOwner::ledger);
  test.check_empty();
}

TEST_CASE("records behind a failed one of their key wait for it") {
  Completed test;
  test.handler.most = 8;
  test.context.lanes.order = GENERATE(config::Order::key, config::Order::partition);
  test.begin();
  test.add(40, {"a", "a", "a", "a"});
  REQUIRE(test.submit());
  CHECK(test.handler.offsets() == std::vector<std::int64_t>{40});  // nothing is known of the time of a record
  test.handler.answer({Outcome::done()});
  test.collect();
  REQUIRE(test.submit());
  CHECK(test.handler.offsets() == std::vector<std::int64_t>{41, 42, 43});
  test.handler.answer({Outcome::done(), Outcome::retry("no")});
  test.collect();
  CHECK(test.ledger.committable() == 42);
  CHECK(test.waits(42));
  CHECK(test.workload->next() == nullptr);
  CHECK(test.workload->keys_wait());
  test.add(44, {"a"});
  CHECK(test.workload->next() == nullptr);
  test.run_waiting();
  REQUIRE(test.submit());
  CHECK(test.handler.offsets() == std::vector<std::int64_t>{42});
  test.handler.answer({Outcome::done()});
  test.collect();
  REQUIRE(test.submit());
  CHECK(test.handler.offsets() == std::vector<std::int64_t>{43, 44});
  test.handler.answer({Outcome::done(), Outcome::done()});
  test.collect();
  CHECK(test.ledger.committable() == 45);
  test.check_empty();
}

TEST_CASE(
    "done records of a claim that lasts too long finish, and records that have not begun run elsewhere") {
  Completed test;
  test.handler.most = 8;
  test.stage().settings.workers = 2;
  test.begin();
  test.add(40, 5);
  REQUIRE(test.submit());
  test.until_overdue(2);
  CHECK(test.ledger.take_completed() == 2);
  CHECK(test.ledger.committable() == 42);
  CHECK(test.workload->in_pool() == 1);
  test.completions->collect_overdue();  // finds nothing more
  REQUIRE(test.submit());
  auto hanging = test.handler.take();
  CHECK(test.handler.offsets() == std::vector<std::int64_t>{43, 44});
  test.handler.answer({Outcome::done(), Outcome::done()});
  test.collect();
  CHECK(test.ledger.take_completed() == 2);
  CHECK_FALSE(hanging.next());
  hanging.answer(2, Outcome::retry("late"));
  { const auto ends = std::move(hanging); }
  test.collect();
  CHECK(test.ledger.take_completed() == 0);
  CHECK(test.waits(42));
  test.check_empty();
}

TEST_CASE("in order, records that have not begun wait behind the record of their key that lasts too long") {
  Completed test;
  test.handler.most = 8;
  test.context.lanes.order = config::Order::key;
  test.begin();
  test.add(40, {"a", "a", "a", "a"});
  REQUIRE(test.submit());
  test.handler.answer({Outcome::done()});
  test.collect();
  REQUIRE(test.submit());
  test.until_overdue(1);
  CHECK(test.ledger.committable() == 42);
  CHECK(test.workload->next() == nullptr);
  CHECK(test.workload->keys_wait());
  {
    auto hanging = test.handler.take();
    hanging.answer(1, Outcome::done());
  }
  test.collect();
  REQUIRE(test.submit());
  CHECK(test.handler.offsets() == std::vector<std::int64_t>{43});
  test.handler.answer({Outcome::done()});
  test.collect();
  CHECK(test.ledger.take_completed() == 4);
  test.check_empty();
}

TEST_CASE(
    "a drain that begins nothing more keeps the done records of a running claim, and drops the others") {
  Completed test;
  test.handler.most = 8;
  test.begin();
  test.add(40, 5);
  REQUIRE(test.submit());
  test.run_up_to(2);
  test.drain(false);
  test.completions->collect_overdue();
  CHECK(test.ledger.committable() == 42);
  CHECK(test.workload->next() == nullptr);
  {
    auto hanging = test.handler.take();
    hanging.answer(2, Outcome::retry("late"));
  }
  test.collect();
  CHECK_FALSE(test.waits(42));
  CHECK(test.ledger.done() == 2);
  test.check_empty();
}

TEST_CASE("a drain that finishes what fits runs the records that were not answered again") {
  Completed test;
  test.handler.most = 8;
  test.downstream.note_service_time(microseconds(1));
  test.begin();
  test.add(40, 3);
  REQUIRE(test.submit());
  test.drain(true);
  test.handler.answer({Outcome::done(), Outcome::retry("no")});
  test.collect();
  CHECK_FALSE(test.waits(41));
  REQUIRE(test.submit());
  CHECK(test.handler.offsets() == std::vector<std::int64_t>{42});
  test.handler.answer({Outcome::done()});
  test.collect();
  CHECK(test.ledger.done() == 2);
  test.check_empty();
}

TEST_CASE(
    "a record that fails after its drain was cut short is abandoned, and a record that is done counts") {
  Completed test;
  test.handler.most = 8;
  test.begin();
  test.add(40, 3);
  REQUIRE(test.submit());
  test.workload->cancel();
  test.handler.answer({Outcome::done(), Outcome::retry("stopped")});
  test.collect();
  CHECK(test.workload->drains());
  CHECK(test.ledger.done() == 1);
  CHECK(test.workload->abandon(false) == 1);
  CHECK(test.log.lines({"abandoned", "offset=41", "epoch=7", "attempt=1"}) == 1);
  test.check_empty();
}

TEST_CASE("a record of a log that was replaced finishes nothing") {
  Completed test;
  test.handler.most = 8;
  test.begin();
  test.add(40, 2);
  REQUIRE(test.submit());
  test.workload->start_over();
  test.handler.answer({Outcome::done(), Outcome::retry("no")});
  test.collect();
  CHECK(test.ledger.done() == 0);
  CHECK_FALSE(test.waits(41));
  CHECK(test.ledger.take_completed() == 0);
  test.check_empty();
}
