#include "lane/stage/stages.h"

#include <optional>

#include "lane/dead_letter_topic.h"
#include "lane/stage/one_stage.h"
#include "lane/stage/pooled_lane.h"

namespace laneway::lane {
namespace {

using handler::Outcome;

/// A breaker that opens with the third failure. The time between probes is real time, also where a test's
/// time is not.
DownstreamRules opens_with(Duration probe) {
  return {.breaker = {.failures = 3, .window = seconds(30), .probe = probe}};
}

/// Records of two pools in turn: even offsets go to `first`, odd ones to `second`.
void add_alternating(PooledLane& test, std::int64_t records, const char* first, const char* second) {
  for (std::int64_t offset = 0; offset < records; ++offset)
    test.partition.add(offset, offset % 2 == 0 ? first : second);
}

/// Stages without their lane; the first one has one worker and a queue of two.
struct StagesAlone : StageSurroundings {
  StagesAlone() { stage().settings.queue = 2; }
  ~StagesAlone() {
    stages->close();
    end_tasks();
    while (last.tasks() > 0) last.answer({});
    CHECK(stages->join(Deadline::in(seconds(60))));
  }
  void begin() {
    gate.emplace(context, id, ledger, StoredCommit{.partition = id.partition});
    stages.emplace(Stages::Members{context, id, ledger, oldest, *gate, nullptr, stats}, [] {});
  }
  void add(std::int64_t offset, std::size_t records) {
    auto batch = stages->all().front()->workload().new_batch();
    for (; records > 0; --records) batch->add(record(offset++));
    stages->add(std::move(batch), now);
  }
  void turn() {
    stages->collect(now);
    stages->submit(now);
  }

  TaskKeeper last;  ///< of the second stage, if there is one
  std::optional<CrashGate> gate;
  std::optional<Stages> stages;
};

TEST_CASE_METHOD(StagesAlone, "records that a full pool rejects count once, however many turns they wait") {
  const auto& rejections = stats.submissions.rejections;
  begin();
  add(0, 3);
  turn();
  CHECK(rejections.get() == 0);
  add(3, 2);
  for (int i = 0; i < 3; ++i) turn();
  CHECK(rejections.get() == 1);
  handler.answer({Outcome::done()});
  turn();
  CHECK(rejections.get() == 1);  // the second of the two records waits on
  handler.answer({Outcome::done()});
  turn();
  add(5, 1);
  turn();
  CHECK(rejections.get() == 2);
}

TEST_CASE_METHOD(StagesAlone, "records wait for memory until records of the next stage are finished") {
  context.memory.lane_bytes = 1000;
  context.stages.push_back(stage());
  context.stages.back().handler = &last;
  stage().settings.name = "first";
  stage().then = 1;
  begin();
  add(0, 1);
  turn();
  handler.answer({result(std::string(700, 'y'))});
  turn();
  REQUIRE(last.tasks() == 1);
  CHECK_FALSE(stages->waits_for_memory());
  add(1, 1);
  for (int i = 0; i < 2; ++i) {
    turn();
    CHECK(stages->waits_for_memory());
    CHECK(handler.tasks() == 0);
  }
  last.answer({Outcome::done()});
  turn();
  CHECK_FALSE(stages->waits_for_memory());
  CHECK(handler.tasks() == 1);
}

TEST_CASE("records of a full pool wait, and records of other pools pass") {
  ScriptedHandler fast;
  PooledLane test;
  test.add_pool("fast", fast);
  test.add_pool("slow", test.handler);
  test.route_by_key();
  add_alternating(test, 200, "fast", "slow");
  test.begin();
  CHECK(test.until([&] { return fast.count() == 100; }));
  CHECK(test.until([&] { return test.handler.started().size() == 2; }));
  CHECK(test.lane->state() == State::running);
  const auto views = test.lane->pool_views();
  REQUIRE(views.size() == 2);
  CHECK(views[0].done == 100);
  CHECK(views[1].name == "slow");
  CHECK(views[1].waiting > 0);
  CHECK(test.commit() == 1);  // the first record of the slow pool holds back the commits
  test.handler.open();
  CHECK(test.until_committed(200));
}

TEST_CASE("a full pool holds its lane at max_incomplete, and the lane goes on afterwards") {
  ScriptedHandler fast;
  PooledLane test;
  test.context.lanes.max_incomplete = 50;
  test.add_pool("fast", fast);
  test.add_pool("slow", test.handler);
  test.route_by_key();
  add_alternating(test, 200, "fast", "slow");
  test.begin();
  CHECK(test.until([&] { return test.lane->state() == State::held; }));
  CHECK(test.until([&] { return fast.count() >= 25; }));
  test.work();
  CHECK(fast.count() <= 26);  // of the first 50 records and the one that was never finished
  CHECK(test.lane->detail(test.now).held_by == "max_incomplete reached");
  test.handler.open();
  CHECK(test.until_committed(200));
}

TEST_CASE("a lane holds at once when all pools that it feeds are full") {
  HeldHandler other;
  PooledLane test;
  test.add_pool("one", test.handler);
  test.add_pool("two", other);
  test.route_by_key();
  add_alternating(test, 600, "one", "two");
  test.begin();
  CHECK(test.until([&] { return test.lane->state() == State::held; }));
  CHECK(test.lane->detail(test.now).held_by == "pool full");
  other.open();
  test.handler.open();
  CHECK(test.until_committed(600));
}

TEST_CASE("an open breaker of a pool holds back only the records of this pool") {
  Downstream downstream{"broken", opens_with(milliseconds(200))};
  ScriptedHandler fast;
  std::atomic<bool> works{false};
  ScriptedHandler broken(
      [&](const auto&) { return works ? Outcome::done() : Outcome::unavailable("refused"); });
  PooledLane test;
  test.add_pool("fast", fast);
  test.add_pool("broken", broken).downstream = &downstream;
  test.route_by_key();
  add_alternating(test, 400, "fast", "broken");
  test.begin();
  CHECK(test.until([&] { return fast.count() == 200; }));
  CHECK(!downstream.closed());
  CHECK(test.lane->state() == State::running);
  CHECK(broken.count() < 100);
  works = true;
  CHECK(test.until([&] {
    test.pass(seconds(1));
    return test.lane->commit_candidate() && test.lane->commit_candidate()->offset == 400;
  }));
}

TEST_CASE("a record that comes long after an outage began may wait as long as the others") {
  config::Each each;
  each.by = {config::Selector::Kind::key, ""};
  each.longest_wait = std::chrono::hours(1);
  KeyedLimits subscribers{"send", opens_with(Duration(1)), each};
  std::atomic<bool> works{false};
  ScriptedHandler send(
      [&](const auto&) { return works ? Outcome::done() : Outcome::unavailable("refused"); });
  DeadLetterTopic letters;
  PooledLane test;
  test.context.forward = &letters;
  auto& pool = test.add_pool("send", send);
  pool.settings.each = each;
  pool.each = &subscribers;
  for (const auto offset : offsets(0, 10)) test.partition.add(offset, "legacy");
  test.begin();
  CHECK(test.until([&] {
    test.pass(seconds(30));
    subscribers.note_worked(test.now);  // another one
    return letters.letters().size() == 10;
  }));
  test.partition.add(10, "legacy");
  test.pass(seconds(30));
  const auto legacy = subscribers.find("legacy");
  CHECK(test.until([&] { return send.offsets().back() == 10 && legacy->places.running() == 0; }));
  test.pass(seconds(1));
  works = true;
  test.pass(seconds(30));
  CHECK(test.until_committed(11));
  CHECK(TestLane::sorted(letters.offsets()) == offsets(0, 10));
}

TEST_CASE("pools that take turns share the records of a lane, and only records of a full pool wait") {
  ScriptedHandler fast;
  PooledLane test;
  test.add_pool("fast", fast);
  test.add_pool("slow", test.handler);
  test.route.by = {config::Selector::Kind::round_robin, ""};
  test.route.rows = {{"", false, "fast"}, {"", false, "slow"}};
  for (std::int64_t offset = 0; offset < 400; offset += 2) test.partition.add(offset, "k");
  test.begin();
  CHECK(test.until([&] { return fast.count() == 100; }));
  CHECK(test.until([&] { return test.handler.started().size() == 2; }));
  CHECK(TestLane::sorted(test.handler.started()) == Offsets{2, 6});
  test.handler.open();
  CHECK(test.until_committed(399));
  CHECK(fast.count() == 100);
}

TEST_CASE("a record is finished at the end of its last stage") {
  ScriptedHandler fetch(
      [](const auto& attempt) { return result("fetched " + std::string(*attempt.record.value())); });
  ScriptedHandler resize([](const auto&) { return result("resized"); });
  PooledLane test;
  test.add_pool("fetch", fetch);
  test.add_pool("resize", resize);
  test.add_pool("store", test.handler);
  test.in_a_chain();
  for (std::int64_t offset = 0; offset < 3; ++offset) test.partition.add(offset, "k", 2);
  test.begin();
  CHECK(test.until([&] { return resize.count() == 3; }));
  CHECK(resize.values() == std::vector<std::string>(3, "fetched xx"));
  CHECK(test.until([&] { return test.handler.started().size() == 2; }));
  CHECK(test.commit() == -1);
  test.handler.answer_done({0, 1, 2});
  CHECK(test.until_committed(3));
}

TEST_CASE("a full stage stops the stages before it, and then the lane") {
  ScriptedHandler first;
  ScriptedHandler second;
  PooledLane test;
  test.add_pool("first", first);
  test.add_pool("second", second);
  test.add_pool("last", test.handler, 1, 1);
  test.in_a_chain();
  test.partition.add_run(0, 5000);
  test.begin();
  CHECK(test.until([&] { return test.lane->state() == State::held; }));
  for (int i = 0; i < 100; ++i) test.pass_since_now(milliseconds(1));
  // Each stage has at most what it runs and queues, and one run that the next one has rejected.
  CHECK(second.count() <= 2 * 256 + 10);
  CHECK(first.count() <= 3 * 256 + 20);
  test.handler.open();
  CHECK(test.until_committed(5000));
}

TEST_CASE("a record is finished when all its sub-jobs are, and a failed sub-job runs again alone") {
  ScriptedHandler split([](const auto&) { return results({"a", "b", "c"}); });
  std::atomic<int> failures{2};
  ScriptedHandler send([&](const auto& attempt) {
    return attempt.part == "b" && failures-- > 0 ? Outcome::retry("500") : Outcome::done();
  });
  PooledLane test;
  test.add_pool("split", split);
  test.add_pool("send", send);
  test.in_a_chain();
  test.partition.add_run(0, 1);
  test.begin();
  CHECK(test.until([&] { return send.count() == 3; }));
  test.work();
  CHECK(test.commit() <= 0);  // it may name the record, which has failed
  CHECK(test.until([&] {
    test.pass(milliseconds(100));
    return test.commit_offset() == 1;
  }));
  CHECK(test.commit() == 1);
  CHECK(send.parts() == std::vector<std::string>{"a", "b", "b", "b", "c"});
  CHECK(split.count() == 1);
}

TEST_CASE("a record with an empty list of results is finished") {
  ScriptedHandler split([](const auto&) { return Outcome::done(handler::Parts{}); });
  ScriptedHandler send;
  PooledLane test;
  test.add_pool("split", split);
  test.add_pool("send", send);
  test.in_a_chain();
  test.partition.add_run(0, 3);
  test.begin();
  CHECK(test.until_committed(3));
  CHECK(send.count() == 0);
}

TEST_CASE("a sub-job that is given up leaves as the record that was read, and the other sub-jobs are done") {
  ScriptedHandler split([](const auto&) { return results({"a", "b"}); });
  ScriptedHandler send(
      [&](const auto& attempt) { return attempt.part == "b" ? Outcome::reject("gone") : Outcome::done(); });
  LettersLane test;
  test.add_pool("split", split);
  test.add_pool("send", send);
  test.in_a_chain();
  test.partition.add(0, "k", 3);
  test.begin();
  CHECK(test.until_committed(1));
  const auto seen = test.letters.seen();
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].offset == 0);
  CHECK(seen[0].value == "xxx");
  REQUIRE(seen[0].headers.size() == 1);
  CHECK(seen[0].headers[0] == std::pair<std::string, std::string>{"laneway-part", "b"});
}

TEST_CASE("a record that came back for a part of a sub-job leaves for that part again") {
  ScriptedHandler split([](const auto&) { return results({"a", "b"}); });
  ScriptedHandler split_one([](const auto&) { return Outcome::reject("gone"); });
  ScriptedHandler send;
  LettersLane test;
  test.add_pool("split", split);
  test.add_pool("split one", split_one);
  test.add_pool("send", send);
  test.in_a_chain();
  const std::string wanted = GENERATE("a", "a/1", "a/1/2");
  test.partition.headers = {{"laneway-part", wanted}};
  test.partition.add_run(0, 1);
  test.begin();
  CHECK(test.until_committed(1));
  const auto seen = test.letters.seen();
  REQUIRE(seen.size() == 1);
  REQUIRE(seen[0].headers.size() == 1);
  CHECK(seen[0].headers[0] == std::pair<std::string, std::string>{"laneway-part", wanted});
}

TEST_CASE("a record that was undecided at first leaves as the record that was read, too") {
  ScriptedHandler change([](const auto&) { return result("changed"); });
  std::atomic<bool> answers{false};
  ScriptedHandler send([&](const auto& attempt) {
    if (attempt.record.offset() == 2) return Outcome::done();
    while (!answers) std::this_thread::yield();
    return Outcome::retry("refused");
  });
  Downstream fragile("shop", {.breaker = {.failures = 5, .window = seconds(30), .probe = seconds(5)}});
  LettersLane test;
  test.context.retry.attempts = 1;
  test.add_pool("change", change);
  test.add_pool("send", send).downstream = &fragile;
  test.in_a_chain();
  test.partition.add(0, "k", 3);
  test.partition.add(1, "k", 3);
  test.begin();
  const bool both_run = test.until([&] { return send.count() == 2; });
  answers = true;
  REQUIRE(both_run);
  REQUIRE(eventually([&] { return fragile.running() == 0; }));  // both have failed before the lane judges
  REQUIRE(test.until([&] {
    test.pass(Duration::zero());  // a tick publishes the number
    return test.lane->stats().waiting_retries.get() == 2;
  }));
  REQUIRE(test.letters.count() == 0);
  test.partition.add(2, "k", 3);
  CHECK(test.until([&] {
    test.pass(milliseconds(10));
    return test.commit() == 3;
  }));
  CHECK(test.letters.values() == std::vector<std::string>{"xxx", "xxx"});
}

TEST_CASE("a record that comes back for one sub-job runs only this sub-job") {
  ScriptedHandler split([](const auto&) { return results({"a", "b", "c"}); });
  ScriptedHandler send;
  PooledLane test;
  test.add_pool("split", split);
  test.add_pool("send", send);
  test.in_a_chain();
  test.partition.headers = {{"laneway-part", "b"}, {"tenant", "t"}};
  test.partition.add_run(0, 1);
  test.begin();
  CHECK(test.until_committed(1));
  const auto seen = send.seen();
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].part == "b");
  CHECK(seen[0].headers == std::vector<std::pair<std::string, std::string>>{{"tenant", "t"}});
}

TEST_CASE("a record that comes back for a missing sub-job is finished and logged") {
  ScriptedHandler split([](const auto&) { return results({"a", "c"}); });
  ScriptedHandler send;
  PooledLane test;
  test.add_pool("split", split);
  test.add_pool("send", send);
  test.in_a_chain();
  test.partition.headers = {{"laneway-part", "b"}};
  test.partition.add_run(0, 1);
  const CapturedLog log;
  test.begin();
  CHECK(test.until_committed(1));
  CHECK(send.count() == 0);
  CHECK(log.lines({"sub-job unknown", "topic=orders", "offset=0", "sub_job=b"}) == 1);
}

TEST_CASE("a drain lets running records pass their last stage, and drops records that cannot begin") {
  ScriptedHandler first;
  PooledLane test;
  test.add_pool("first", first);
  test.add_pool("last", test.handler);
  test.in_a_chain();
  test.partition.add_run(0, 2);
  test.begin();
  CHECK(test.until([&] { return test.handler.started().size() == 2; }));
  test.lane->begin_drain(test.now, test.now + seconds(60));
  test.work();
  CHECK(!test.lane->drained());
  test.handler.open();
  CHECK(test.until_drained());
  CHECK(test.commit() == 2);
}

TEST_CASE("a drain of a lane with a full pool ends, and commits only what is finished") {
  ScriptedHandler fast;
  PooledLane test;
  test.context.lanes.drain_queued = config::DrainQueued::give_back;
  test.add_pool("fast", fast);
  test.add_pool("slow", test.handler);
  test.route_by_key();
  add_alternating(test, 100, "fast", "slow");
  test.begin();
  CHECK(test.until([&] { return fast.count() == 50 && test.handler.started().size() == 2; }));
  test.lane->begin_drain(test.now, test.now + seconds(60));
  test.handler.answer_done({1, 3});
  CHECK(test.until_drained());
  CHECK(test.commit() == 5);
}

TEST_CASE("drain_queued: return begins no further stage of a running record") {
  ScriptedHandler last;
  PooledLane test;
  test.context.lanes.drain_queued = config::DrainQueued::give_back;
  test.add_pool("first", test.handler);
  test.add_pool("last", last);
  test.in_a_chain();
  test.partition.add_run(0, 2);
  test.begin();
  CHECK(test.until([&] { return test.handler.started().size() == 2; }));
  test.lane->begin_drain(test.now, test.now + seconds(60));
  test.handler.open();
  CHECK(test.until_drained());
  CHECK(last.count() == 0);
  CHECK(test.commit() == -1);  // the next owner of the partition gets both records
}

TEST_CASE("failed records run in a pool of their own") {
  PooledLane test;
  test.add_pool("send", test.handler, 2, 100).settings.retry_workers = 1;
  test.partition.add_run(0, 20);
  test.begin();
  CHECK(test.until([&] { return test.handler.started().size() == 2; }));
  const auto first = test.handler.started();
  for (const auto offset : first) test.handler.answer(offset, Outcome::retry("500"));
  CHECK(test.until([&] { return test.handler.started().size() == 4; }));
  // Both workers are occupied; a failed record begins all the same, one at a time.
  CHECK(test.until([&] {
    test.pass(milliseconds(100));
    return test.handler.started().size() == 5;
  }));
  const auto view = test.lane->pool_views().front();
  CHECK(view.pool.in_flight == 2);
  CHECK(view.retries_running == 1);
  test.handler.open();
  CHECK(test.until([&] {
    test.pass(seconds(1));
    return test.lane->commit_candidate() && test.lane->commit_candidate()->offset == 20;
  }));
}

}  // namespace
}  // namespace laneway::lane
