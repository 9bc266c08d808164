// A partition that the client has paused itself, as librdkafka #5591 leaves it: the real client, on an
// embedded cluster.
#include "captured_log.h"
#include "catch.h"
#include "lane/lane.h"
#include "lane/position/silences.h"
#include "service/support.h"

using namespace laneway;
using namespace laneway::service;

namespace {

const kafka::TopicPartition silenced{"orders", 0};

/// A lane without unfinished records, on a partition that its client then pauses unasked.
struct PausedPartition : World {
  PausedPartition() : World(1) {
    produce(10);
    auto made = kafka::Consumer::create(config.kafka, context.memory.fetch, [] {});
    REQUIRE(made);
    consumer = std::move(made).value();
    auto source = std::make_unique<lane::KafkaSource>(*consumer, silenced, [] {});
    REQUIRE(consumer->assign({{silenced, 0, ""}}));
    lane.start(std::move(source), SteadyClock::now());
    REQUIRE(turn_until([&] { return history.distinct_done() == 10; }));
    REQUIRE(consumer->pause(silenced));
    produce(10);
  }
  ~PausedPartition() {
    lane.revoke(SteadyClock::now());
    (void)lane.close_pool(Deadline::in(patience));
    consumer.reset();
  }

  /// Works as the loop does.
  template <class Condition>
  bool turn_until(Condition&& condition) {
    return eventually([&] {
      const auto now = SteadyClock::now();
      while (consumer->poll()) {
      }
      while (lane.work(now)) {
      }
      lane.tick(now);
      return condition();
    });
  }

  lane::LaneContext make_context() {
    lane::LaneContext made;
    auto& stage = made.stages.emplace_back();
    stage.handler = &handler;
    stage.downstream = &no_breaker;
    made.memory = lane::plan_memory(1 << 28, 1, 1, 1);
    made.silences = &silences;
    made.silence_unit = milliseconds(300);
    return made;
  }

  TestHandler handler{history, do_nothing, seconds(30), 256};
  lane::Downstream no_breaker{"none", {.breaker = {.failures = 0}}};
  lane::Silences silences;
  lane::LaneContext context = make_context();
  std::unique_ptr<kafka::Consumer> consumer;
  lane::Lane lane{context, {silenced, 0, ""}, 1, [] {}};
};

}  // namespace

TEST_CASE_METHOD(PausedPartition, "a partition that the client holds to be paused is resumed") {
  REQUIRE(turn_until([&] { return history.distinct_done() == 20; }));
  CHECK(each_done_once());
  CHECK(silences.count(lane::SilenceStep::seek) > 0);
  CHECK(silences.count(lane::SilenceStep::pause) > 0);
}
