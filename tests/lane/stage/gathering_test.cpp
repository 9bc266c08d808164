// Pools that gather the results of sub-jobs.
#include "lane/stage/pooled_lane.h"
#include "lane/stage/stages.h"

namespace laneway::lane {
namespace {

using handler::Outcome;

TEST_CASE("in order by key, records are gathered in order, although sub-jobs leave the chain early") {
  ScriptedHandler split([](const auto& attempt) {
    return attempt.record.offset() == 0 ? result("goes on") : results({"leaves"});
  });
  ScriptedHandler pass([](const auto& attempt) {
    return attempt.part.empty() ? result("goes on") : Outcome::done(handler::Parts{});
  });
  ScriptedHandler gather;
  LettersLane test;
  test.context.lanes.order = config::Order::key;
  test.add_pool("split", split);
  test.add_pool("pass", pass);
  test.add_pool("between", test.handler);
  test.add_pool("gather", gather).settings.gather = true;
  test.in_a_chain();
  for (std::int64_t offset = 0; offset < 4; ++offset) test.partition.add(offset, offset == 3 ? "l" : "k");
  test.begin();
  CHECK(test.until([&] { return test.handler.started() == Offsets{0} && pass.count() == 4; }));
  CHECK(test.until([&] { return gather.offsets() == Offsets{3}; }));
  SECTION("the earlier record comes, too") {
    test.handler.answer_done({0});
    CHECK(test.until_committed(4));
    CHECK(gather.offsets() == Offsets{3, 0, 1, 2});
  }
  SECTION("the earlier record is dead-lettered, and does not come") {
    test.handler.answer(0, Outcome::reject("gone"));
    CHECK(test.until_committed(4));
    CHECK(gather.offsets() == Offsets{3, 1, 2});
  }
  SECTION("the lane is drained before the earlier record has come") {
    test.lane->begin_drain(test.now, test.now + seconds(60));
    test.handler.answer(0, Outcome::retry("not yet"));
    CHECK(test.until_drained());
    CHECK(test.commit() <= 0);
    CHECK(gather.offsets() == Offsets{3});
  }
}

TEST_CASE("sub-jobs of a sub-job are gathered once, with its siblings") {
  ScriptedHandler split([](const auto&) { return results({"a", "b"}); });
  ScriptedHandler split_one([](const auto& attempt) {
    return attempt.part == "a" ? results({"1", "2"}) : result("whole");
  });
  ScriptedHandler send;
  ScriptedHandler gather;
  PooledLane test;
  test.add_pool("split", split);
  test.add_pool("split one", split_one);
  test.add_pool("send", send);
  test.add_pool("gather", gather).settings.gather = true;
  test.in_a_chain();
  test.partition.add_run(0, 1);
  test.begin();
  CHECK(test.until_committed(1));
  CHECK(send.parts() == std::vector<std::string>{"a/1", "a/2", "b"});
  CHECK(gather.parts() == std::vector<std::string>{""});
}

TEST_CASE("a record that was gathered and split again comes back for one sub-job of one split") {
  const auto both = [](const auto&) { return results({"a", "b"}); };
  ScriptedHandler split(both);
  ScriptedHandler send;
  ScriptedHandler split_again(both);
  ScriptedHandler send_again;
  PooledLane test;
  test.add_pool("split", split);
  test.add_pool("send", send);
  test.add_pool("split again", split_again).settings.gather = true;
  test.add_pool("send again", send_again);
  test.in_a_chain();
  using Parts = std::vector<std::string>;
  const auto [wanted, first, second] = GENERATE(table<std::string, Parts, Parts>(
      {{"b", {"b"}, {"gathered/a", "gathered/b"}}, {"gathered/b", {"a", "b"}, {"gathered/b"}}}));
  test.partition.headers = {{"laneway-part", wanted}};
  test.partition.add_run(0, 1);
  test.begin();
  CHECK(test.until_committed(1));
  CHECK(send.parts() == first);
  CHECK(send_again.parts() == second);
}

TEST_CASE("a pool that gathers gets the results of all sub-jobs in their order") {
  ScriptedHandler split([](const auto&) { return results({"a", "b", "c"}); });
  ScriptedHandler send([&](const auto& attempt) {
    return attempt.part == "b" ? Outcome::reject("gone") : result("done " + std::string(attempt.part));
  });
  ScriptedHandler gather;
  LettersLane test;
  test.add_pool("split", split);
  test.add_pool("send", send);
  test.add_pool("gather", gather).settings.gather = true;
  test.in_a_chain();
  test.partition.add_run(0, 1);
  test.begin();
  CHECK(test.until_committed(1));
  CHECK(gather.values() ==
        std::vector<std::string>{R"([{"id":"a","results":[{"value":"done a"}]},{"id":"b","given_up":true},)"
                                 R"({"id":"c","results":[{"value":"done c"}]}])"});
}

}  // namespace
}  // namespace laneway::lane
