// Chains of pools: what comes back for one sub-job, what bounds a stage, what a drain gives back, and how a
// sub-job that ends the process is found.
#include "lane/stage/pooled_lane.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

namespace {

/// Two pools in a chain, in the order of keys: the second one holds its records until it is opened.
struct OrderedChain : PooledLane {
  OrderedChain() {
    context.lanes.order = config::Order::key;
    add_pool("first", first);
    add_pool("last", handler, 1);
    in_a_chain();
  }
  ~OrderedChain() { lane.reset(); }
  ScriptedHandler first;
};

/// A record is split into these sub-jobs, and each of them into x and y.
struct SplitTwice : PooledLane {
  explicit SplitTwice(const std::vector<std::string>& ids)
      : split([ids](const auto&) { return results(ids); }) {
    add_pool("split", split);
    add_pool("again", again);
    add_pool("last", last);
    in_a_chain();
  }
  ~SplitTwice() { lane.reset(); }
  /// The sub-jobs that run when the record comes back for this one; empty: for all.
  std::vector<std::string> parts_of(const std::string& wanted) {
    if (!wanted.empty()) partition.headers = {{"laneway-part", wanted}};
    partition.add_run(0, 1);
    begin();
    CHECK(until_committed(1));
    return last.parts();
  }
  ScriptedHandler split;
  ScriptedHandler again{[](const auto&) { return results({"x", "y"}); }};
  ScriptedHandler last;
};

}  // namespace

TEST_CASE("a sub-job that comes back is split into its own sub-jobs again") {
  SplitTwice test({"a", "b"});
  const auto [wanted, expected] = GENERATE(table<std::string, std::vector<std::string>>(
      {{"a", {"a/x", "a/y"}}, {"a/y", {"a/y"}}, {"", {"a/x", "a/y", "b/x", "b/y"}}}));
  CHECK(test.parts_of(wanted) == expected);
}

TEST_CASE("a sub-job of a sub-job with the name gathered comes back alone") {
  SplitTwice test({"gathered", "b"});
  const auto [wanted, expected] = GENERATE(table<std::string, std::vector<std::string>>(
      {{"gathered", {"gathered//x", "gathered//y"}}, {"gathered//x", {"gathered//x"}}}));
  CHECK(test.parts_of(wanted) == expected);
}

TEST_CASE("a record for which nothing is left to do is a success") {
  ScriptedHandler none([](const auto&) { return results({}); });
  ScriptedHandler last;
  PooledLane test;
  test.add_pool("none", none);
  test.add_pool("last", last);
  test.in_a_chain();
  test.partition.add_run(0, 3);
  test.begin();
  CHECK(test.until_committed(3));
  CHECK(last.count() == 0);
  CHECK(test.lane->stats().outcomes[static_cast<std::size_t>(handler::OutcomeLabel::success)].get() == 3);
}

TEST_CASE("a skip of a record skips all of its running sub-jobs") {
  ScriptedHandler split([](const auto&) { return results({"a", "b", "c"}); });
  LettersLane test;
  test.add_pool("split", split);
  test.add_pool("send", test.handler, 3);
  test.in_a_chain();
  test.partition.add_run(0, 1);
  test.begin();
  REQUIRE(test.until([&] { return test.handler.started().size() == 3; }));
  CHECK(test.lane->skip(0, "no use", test.now) == Skip::when_it_fails);
  for (int i = 0; i < 3; ++i) test.handler.answer(0, Outcome::retry("no"));
  CHECK(test.until_committed(1));
  CHECK(test.letters.count() == 3);
  CHECK(test.handler.started().size() == 3);
}

TEST_CASE("the limit of records that wait for their next attempt also holds with several pools") {
  ScriptedHandler failing([](const auto&) { return Outcome::retry("no"); });
  ScriptedHandler good;
  PooledLane test;
  test.context.retry.max_waiting = 10;
  test.context.retry.backoff = test.context.retry.max_backoff = std::chrono::hours(1);
  test.add_pool("bad", failing);
  test.add_pool("good", good);
  test.route_by_key();
  for (const auto offset : offsets(0, 10)) test.partition.add(offset, "bad");
  test.begin();
  REQUIRE(test.until([&] {
    test.pass({});  // counts the records
    return test.lane->stats().waiting_retries.get() == 10;
  }));
  for (const auto offset : offsets(10, 200)) test.partition.add(offset, "bad");
  test.partition.add(200, "good");
  CHECK(test.until([&] { return good.count() == 1; }));
  CHECK(failing.count() == 10);
}

TEST_CASE("a stage is full when its records wait for their keys") {
  OrderedChain test;
  for (const auto offset : offsets(0, 300)) test.partition.add(offset, offset % 2 == 0 ? "even" : "odd");
  test.begin();
  CHECK(test.until([&] { return test.lane->state() == State::held; }));
  CHECK(test.first.count() < 150);
  test.handler.open();
  CHECK(test.until_committed(300));
  CHECK(test.first.count() == 300);
}

TEST_CASE("in a drain, no record overtakes a record of its key that a stage has given back") {
  HeldHandler first;
  PooledLane test;
  test.context.lanes.order = config::Order::key;
  test.add_pool("first", first);
  test.add_pool("last", test.handler, 1);
  test.in_a_chain();
  for (const auto offset : offsets(0, 10)) test.partition.add(offset, "key");
  test.begin();
  first.answer_done(offsets(0, 4));
  test.handler.answer(0);
  REQUIRE(test.until([&] { return first.started().size() == 5 && test.handler.started().size() == 2; }));
  test.lane->begin_drain(test.now, test.now + nanoseconds(1));  // too little for the records that wait
  first.open();
  test.work();
  test.handler.open();
  REQUIRE(test.until_drained());
  // The running slice of the key has one record or two, by the measured time.
  const auto started = static_cast<std::int64_t>(test.handler.started().size());
  CHECK(test.handler.started() == offsets(0, started));
  CHECK(started <= 3);
}

TEST_CASE("a drain begins no record whose next stage has an open breaker") {
  Downstream downstream{"broken", {.breaker = {.failures = 3, .window = seconds(30), .probe = seconds(5)}}};
  HeldHandler first;
  ScriptedHandler broken([](const auto&) { return Outcome::unavailable("refused"); });
  PooledLane test;
  test.add_pool("first", first, 1, 1);
  test.add_pool("broken", broken).downstream = &downstream;
  test.in_a_chain();
  test.partition.add_run(0, 20);
  test.begin();
  first.answer_done(offsets(0, 5));
  REQUIRE(test.until([&] { return !downstream.closed() && first.started().size() == 6; }));
  test.lane->begin_drain(test.now, test.now + seconds(20));
  first.open();
  CHECK(test.until_drained());
  CHECK(first.started().size() == 6);
}
