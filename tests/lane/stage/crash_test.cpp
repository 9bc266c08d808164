// A sub-job that ends the process is found, however often the process has to end for this.
#include "lane/stage/pooled_lane.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

namespace {

/// Records are split into sub-jobs; those of offset 1 with the id "c" end the process.
struct DyingChain : LettersLane {
  explicit DyingChain(const kafka::CommittedOffset& start, std::uint32_t process)
      : split([](const auto&) {
          return results({"a", "b", "c", "d", "e", "f"});
        }),
        send([this](const handler::Attempt& attempt) {
          if (attempt.record.offset() == 1 && attempt.part == "c") died = true;
          return died ? Outcome::retry("the process has ended") : Outcome::done();
        }) {
    context.retry.max_crashes = 3;
    context.process = process;
    add_pool("split", split);
    add_pool("send", send);
    in_a_chain();
    partition.add_run(start.offset, records);
    begin(start.offset, start.metadata);
  }
  ~DyingChain() { lane.reset(); }

  /// Lives until the process ends, or everything is committed; `last` becomes the last commit before that.
  bool lives_through(kafka::CommittedOffset& last) {
    REQUIRE(until([&] {
      const auto candidate = died ? std::nullopt : lane->commit_candidate();
      if (!candidate || died) return died.load();
      lane->committed(*candidate);
      last = *candidate;
      return last.offset == records;
    }));
    return !died;
  }

  static constexpr std::int64_t records = 6;
  std::atomic<bool> died{false};
  ScriptedHandler split;
  ScriptedHandler send;
};

}  // namespace

TEST_CASE("a record whose sub-job ends the process goes to the dead-letter topic") {
  kafka::CommittedOffset last{{"orders", 3}, 0, {}};
  Offsets given_up;
  std::uint32_t lives = 0;
  for (bool done = false; !done;) {
    REQUIRE(++lives < 20);
    DyingChain chain(last, lives);
    done = chain.lives_through(last);
    given_up = chain.letters.offsets();
  }
  CHECK(given_up == Offsets{1});
  CHECK(lives <= 8);
}

TEST_CASE("a record that may run for long in a later stage is no sign that careful mode is needless") {
  const CapturedLog log;
  HeldHandler quick;
  quick.job_timeout = seconds(10);
  LettersLane test;
  test.context.retry.max_crashes = 3;
  test.handler.job_timeout = seconds(120);
  test.add_pool("quick", quick);
  test.add_pool("slow", test.handler);
  test.route_by_key();
  for (const auto offset : offsets(0, 3)) test.partition.add(offset, "slow");
  test.begin(0, "lives=2 ");
  REQUIRE(test.until([&] {
    (void)test.commit();
    return test.handler.started() == Offsets{0};
  }));
  test.pass(seconds(60));
  CHECK(log.lines({"careful mode ends"}) == 0);
  CHECK(test.handler.started() == Offsets{0});
  test.pass(seconds(70));
  CHECK(log.lines({"careful mode ends", "hangs"}) == 1);
  test.handler.open();
  CHECK(test.until([&] {  // the first record is past its deadline, and may run again
    test.pass(milliseconds(100));
    return test.commit() == 3;
  }));
}
