// The workers' side of a stage: what a claim's answers count as, and what the downstream learns from them.
#include "lane/stage/execution.h"

#include <unistd.h>

#include <fstream>

#include "lane/stage/one_stage.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Cause;
using handler::Outcome;
using handler::OutcomeLabel;
using handler::Route;

namespace {

/// Each submission is one claim, whatever the handler.
struct Executed : StageSurroundings {
  ~Executed() { end_tasks(); }
  void begin() {
    make_line();
    execution.emplace(context, stage(), id, stats, [this] {
      ++signals;
      left_at_signal = execution->left();
    });
    pool.emplace(pool::Limits{.workers = 4, .queue = 64, .asynchronous = true, .whole_claims = true},
                 *execution, [this] { execution->collect(at_room); });
    execution->set_pool(*pool);
  }
  void submit(std::vector<handler::Item> items, bool sequential = false) {
    auto& batch = batches.emplace_back();
    batch.line = &*line;
    batch.route = items.front().route();
    batch.passes_on = batch.route == Route::work && stage().passes_on();
    batch.sequential = sequential;
    batch.size = static_cast<std::uint32_t>(items.size());
    batch.items = std::move(items);
    REQUIRE(pool->try_submit(batch).taken == batch.size);
  }
  void submit(std::uint32_t records, bool sequential = false) {
    std::vector<handler::Item> items;
    for (std::uint32_t i = 0; i < records; ++i) items.push_back(record(next_offset++));
    submit(std::move(items), sequential);
  }
  /// A claim of new records that the handler answers like this.
  void run(std::vector<Outcome> answers) {
    submit(static_cast<std::uint32_t>(answers.size()));
    handler.answer(std::move(answers));
  }
  std::vector<handler::Finished> collect() {
    std::vector<handler::Finished> finished;
    execution->collect(finished);
    return finished;
  }
  std::uint64_t outcomes(OutcomeLabel label) const {
    return stats.outcomes[static_cast<std::size_t>(label)].get();
  }
  /// Calls of the downstream, as people see them: how many there were, and how many failed.
  std::pair<std::uint64_t, std::uint64_t> calls() {
    const auto report = downstream.report(SteadyClock::now());
    return {report.calls.calls, report.calls.failed};
  }
  std::int64_t next_offset = 0;
  std::deque<WorkBatch> batches;
  std::vector<handler::Finished> at_room;
  int signals = 0;
  bool left_at_signal = true;
  std::optional<Execution> execution;
  std::optional<pool::Pool> pool;
};

Outcome in_same_call(Outcome outcome) {
  outcome.same_call = true;
  return outcome;
}

/// A file for a journal, removed by the destructor.
struct JournalFile {
  JournalFile() { ::close(::mkstemp(path.data())); }
  ~JournalFile() { ::unlink(path.c_str()); }
  JournalFile(const JournalFile&) = delete;
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  std::string path = "/tmp/laneway-execution-XXXXXX";
};

}  // namespace

TEST_CASE("a finished claim is collected once, with the answers to its records") {
  Executed test;
  test.begin();
  test.submit(3);
  CHECK(test.collect().empty());
  CHECK(test.handler.offsets() == std::vector<std::int64_t>{0, 1, 2});
  test.handler.answer({Outcome::done(), Outcome::retry("no")});
  const auto finished = test.collect();
  REQUIRE(finished.size() == 1);
  CHECK(finished[0].claim.range.count() == 3);
  CHECK(finished[0].done == 1);
  REQUIRE(finished[0].failures.size() == 1);
  CHECK(finished[0].failures[0].index == 1);
  CHECK(finished[0].failures[0].outcome.reason == "no");
  CHECK(test.collect().empty());
  CHECK(test.pool->drained());
}

TEST_CASE("a claim signals the loop only if the loop has something to do at once") {
  struct Case {
    std::vector<Outcome> answers{};
    bool eager = false;
    int signals = 0;
  };
  for (const auto& [answers, eager, signals] :
       {Case{{Outcome::done(), Outcome::done()}, false, 0}, Case{{Outcome::done(), Outcome::done()}, true, 1},
        Case{{Outcome::done(), Outcome::retry("no")}, false, 1}, Case{{Outcome::done()}, false, 1}}) {
    Executed test;
    test.begin();
    test.execution->set_eager(eager);
    test.submit(2);
    test.handler.answer(answers);
    CHECK(test.signals == signals);
    CHECK(test.collect().size() == 1);
  }
}

TEST_CASE("the mailbox is complete when the pool reports room, and a thread leaves after its signal") {
  Executed test;
  test.begin();
  test.submit(1);
  test.pool->notify_at(0);
  test.handler.answer({Outcome::retry("no")});
  CHECK(test.at_room.size() == 1);
  CHECK_FALSE(test.left_at_signal);
  CHECK(test.execution->left());
}

TEST_CASE("while the breaker is open, no record reaches the handler, and the records are withheld") {
  Executed test;
  test.begin();
  test.break_down();
  const auto before = test.calls();
  const bool sequential = GENERATE(false, true);
  test.submit(3, sequential);
  CHECK(test.handler.tasks() == 0);
  const auto finished = test.collect();
  REQUIRE(finished.size() == 1);
  CHECK(finished[0].done == 0);
  // The other records of a key wait behind the first.
  REQUIRE(finished[0].failures.size() == (sequential ? 1 : 3));
  for (const auto& failure : finished[0].failures) CHECK(failure.outcome.cause == Cause::withheld);
  CHECK(test.signals == 1);
  CHECK(test.calls() == before);
  CHECK(test.downstream.running() == 0);
  for (const auto& outcomes : test.stats.outcomes) CHECK(outcomes.get() == 0);
  CHECK(test.pool->snapshot().service_time == Duration::zero());
}

TEST_CASE("a probe reaches the handler, and the records beside the probe are withheld") {
  Executed test;
  test.begin();
  test.break_down(true);
  test.submit(1);
  REQUIRE(test.handler.tasks() == 1);
  CHECK(test.downstream.running() == 1);
  test.submit(1);
  CHECK(test.handler.tasks() == 1);
  CHECK(test.collect().size() == 1);
  test.handler.answer({Outcome::done()});
  CHECK(test.downstream.running() == 0);
  test.submit(1);
  CHECK(test.handler.tasks() == 1);
}

TEST_CASE("records on their way to a topic go there although the breaker is open, and count when written") {
  Executed test;
  ProcessTotals totals;
  test.context.totals = &totals;
  test.begin();
  test.break_down();
  const auto before = test.calls();
  for (const auto route : {Route::retry_topic, Route::dead_letter}) {
    for (const auto& answer : {Outcome::unavailable("no broker"), Outcome::done()}) {
      std::vector<handler::Item> items;
      items.push_back(test.given_up(test.next_offset++, route));
      test.submit(std::move(items));
      REQUIRE(test.forward.tasks() == 1);
      test.forward.answer({answer});
    }
  }
  CHECK(test.handler.tasks() == 0);
  CHECK(test.stats.retry_topics.get() == 1);
  CHECK(test.stats.dead_letters[static_cast<std::size_t>(delivery::DeadLetterReason::rejected)].get() == 1);
  CHECK(totals.dead_letters.get() == 1);
  CHECK(test.outcomes(OutcomeLabel::success) == 0);
  CHECK(test.outcomes(OutcomeLabel::unavailable) == 0);
  CHECK(test.calls() == before);
  CHECK(test.collect().size() == 4);
}

TEST_CASE("each answer counts under its label, and success only in the last stage") {
  const bool passes_on = GENERATE(false, true);
  Executed test;
  test.stage().then = passes_on ? 1 : -1;
  test.begin();
  test.run({Outcome::done(), Outcome::done(), Outcome::retry("no"), Outcome::reject("bad"),
            Outcome::unavailable("out"), throttled(), with_cause(Cause::timeout, "late"),
            with_cause(Cause::panic, "bug")});
  CHECK(test.outcomes(OutcomeLabel::success) == (passes_on ? 0 : 2));
  CHECK(test.outcomes(OutcomeLabel::retry) == 1);
  CHECK(test.outcomes(OutcomeLabel::rejected_record) == 1);
  CHECK(test.outcomes(OutcomeLabel::unavailable) == 2);
  CHECK(test.outcomes(OutcomeLabel::timeout) == 1);
  CHECK(test.outcomes(OutcomeLabel::panic) == 1);
}

TEST_CASE("a call counts as failed or as worked, by the answer to its record") {
  struct Case {
    const char* what = "";
    Outcome answer{};
    std::uint64_t worked = 0;
    std::uint64_t failed = 0;
  };
  for (const auto& [what, answer, worked, failed] :
       {Case{"done", Outcome::done(), 1, 0}, Case{"retry", Outcome::retry("no"), 0, 1},
        Case{"the downstream finds the record wrong", Outcome::reject("bad"), 1, 0},
        Case{"unavailable", Outcome::unavailable("out"), 0, 1}, Case{"throttled", throttled(), 0, 1},
        Case{"the downstream was not asked", Outcome::local("no descriptors"), 0, 0},
        Case{"another record counts for the call", in_same_call(Outcome::retry("no")), 0, 0},
        Case{"the same, done", in_same_call(Outcome::done()), 0, 0}}) {
    INFO(what);
    Executed test;
    test.begin();
    test.run({answer, Outcome::retry("beside")});
    CHECK(test.calls() == std::pair{worked + failed + 1, failed + 1});
    CHECK(test.downstream.running() == 0);
  }
}

TEST_CASE("a task that is one call works if one of its records does") {
  Executed test;
  test.handler.most = 8;
  test.begin();
  test.run({Outcome::retry("no"), Outcome::done(), Outcome::retry("no")});
  CHECK(test.calls() == std::pair<std::uint64_t, std::uint64_t>{1, 0});
  test.run({Outcome::retry("no"), Outcome::retry("no")});
  CHECK(test.calls() == std::pair<std::uint64_t, std::uint64_t>{2, 1});
}

TEST_CASE("calls that a drain has cut off show nothing about the downstream") {
  Executed test;
  test.begin();
  test.execution->set_cut_off();
  test.run({Outcome::done(), Outcome::retry("stopped")});
  CHECK(test.calls() == std::pair<std::uint64_t, std::uint64_t>{0, 0});
  CHECK(test.collect().size() == 1);
}

TEST_CASE("two failures of one claim are two failures in a row, unless a record between them is done") {
  const bool between = GENERATE(false, true);
  Executed test;
  test.begin();
  test.downstream.change({.breaker = {.failures = 2}}, test.now);
  if (between)
    test.run({Outcome::retry("no"), Outcome::done(), Outcome::retry("no")});
  else
    test.run({Outcome::done(), Outcome::retry("no"), Outcome::retry("no")});
  CHECK(test.downstream.closed() == between);
}

TEST_CASE("failures of suspects and throttled calls open no breaker") {
  Executed test;
  test.begin();
  test.downstream.change({.breaker = {.failures = 1}}, test.now);
  const bool suspects = GENERATE(false, true);
  const std::vector answers(8, suspects ? Outcome::retry("no") : throttled());
  std::vector<handler::Item> items;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    items.push_back(test.record(test.next_offset++));
    items.back().suspect = suspects;
  }
  test.submit(std::move(items));
  test.handler.answer(answers);
  CHECK(test.downstream.closed());
  test.run({Outcome::retry("no")});
  CHECK_FALSE(test.downstream.closed());
}

TEST_CASE("a throttled call lowers the pace, unless an adaptive limit can fall instead") {
  enum class Limit : std::uint8_t { fixed, can_fall, lowest };
  const auto kind = GENERATE(Limit::fixed, Limit::can_fall, Limit::lowest);
  const auto after = GENERATE(std::optional<Duration>{}, std::optional<Duration>{seconds(1)});
  Executed test;
  RateLimiter rate({});
  AdaptiveLimit limit({.algorithm = config::AdaptiveAlgorithm::aimd, .min = 32}, 64);
  if (kind == Limit::can_fall) limit.change({.algorithm = config::AdaptiveAlgorithm::aimd}, 64, test.now);
  CHECK(limit.can_fall() == (kind == Limit::can_fall));
  test.stage().rate = &rate;
  if (kind != Limit::fixed) test.stage().adaptive = &limit;
  test.begin();
  auto answer = throttled();
  answer.after = after;
  test.run({Outcome::done(), answer});
  CHECK(rate.keeps_pace() == (kind != Limit::can_fall || after));
}

TEST_CASE("the adaptive limit falls once when an outage begins, and learns nothing from its calls") {
  Executed test;
  AdaptiveLimit limit({.algorithm = config::AdaptiveAlgorithm::aimd, .min = 32}, 64);
  limit.change({.algorithm = config::AdaptiveAlgorithm::aimd}, 64, test.now);
  test.stage().adaptive = &limit;
  test.begin();
  test.submit(1);
  test.submit(1);
  test.break_down();
  test.handler.answer({Outcome::retry("no")});
  const auto fallen = limit.limit();
  CHECK(fallen < 32);
  test.handler.answer({throttled()});
  CHECK(limit.limit() == fallen);
}

TEST_CASE("the journal has a line for each attempt, which says what became of the record") {
  struct Case {
    Route route = Route::work;
    bool passes_on = false;
    Outcome answer{};
    const char* outcome = "";
  };
  for (const auto& [route, passes_on, answer, outcome] :
       {Case{Route::work, false, Outcome::done(), "success"},
        Case{Route::work, true, Outcome::done(), "passed_on"},
        Case{Route::work, true, Outcome::retry("no"), "retry"},
        Case{Route::retry_topic, true, Outcome::done(), "retry_topic"},
        Case{Route::retry_topic, false, Outcome::unavailable("no broker"), "retry_topic_failed"},
        Case{Route::dead_letter, false, Outcome::done(), "dead_letter"},
        Case{Route::dead_letter, true, Outcome::reject("too large"), "dead_letter_failed"}}) {
    INFO(outcome);
    const JournalFile file;
    const auto journal = Journal::open(file.path);
    REQUIRE(journal);
    Executed test;
    test.context.journal = journal.value().get();
    test.stage().settings.name = "resize";
    test.stage().then = passes_on ? 1 : -1;
    test.begin();
    std::vector<handler::Item> items;
    test.next_offset = 40;
    const auto offset = test.next_offset++;
    items.push_back(route == Route::work ? test.record(offset) : test.given_up(offset, route));
    test.submit(std::move(items));
    (route == Route::work ? test.handler : test.forward).answer({answer});
    test.break_down();
    test.submit(1);  // withheld: no attempt
    const auto lines = file.lines();
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find("\"offset\":40,") != std::string::npos);
    CHECK(lines[0].find("\"outcome\":\"" + std::string(outcome) + "\"") != std::string::npos);
    CHECK(lines[0].find("\"pool\":\"resize\"") != std::string::npos);
  }
}
