// The place of a subscriber is for records that run, and not for one that waits until it is known whose
// failure it is.
#include "captured_log.h"
#include "lane/stage/pooled_lane.h"

using namespace laneway;
using namespace laneway::lane;
using handler::Outcome;

namespace {

/// Two lanes with records of one subscriber, which has one place.
struct OnePlace {
  OnePlace() {
    each.by = {config::Selector::Kind::key, ""};
    each.workers = 1;
    for (auto* lane : {&first, &second}) {
      lane->context.retry.attempts = 1;
      auto& pool = lane->add_pool("send", lane == &first ? failing : working);
      pool.settings.each = each;
    }
    all = std::make_unique<KeyedLimits>(
        "send", DownstreamRules{.breaker = {.failures = 5, .window = seconds(30), .probe = seconds(5)}},
        each);
    for (auto* lane : {&first, &second}) lane->context.stages.front().each = all.get();
  }
  ~OnePlace() {
    first.lane.reset();
    second.lane.reset();
  }
  OnePlace(const OnePlace&) = delete;

  const CapturedLog log;
  ScriptedHandler failing{[](const auto&) { return Outcome::retry("HTTP 500"); }};
  ScriptedHandler working;
  config::Each each;
  std::unique_ptr<KeyedLimits> all;
  LettersLane first, second;
};

}  // namespace

TEST_CASE_METHOD(OnePlace, "a record that waits for judgement has no place of its subscriber") {
  for (const auto offset : offsets(0, 2)) first.partition.add(offset, "acme");
  first.begin();
  const auto& waiting = [&] { return first.lane->stats().waiting_retries.get(); };
  REQUIRE(first.until([&] {
    first.lane->tick(first.now);
    return failing.count() == 2 && first.letters.count() == 1 && waiting() == 1;
  }));  // other records have failed as well, and none has worked since
  for (int looks = 0; looks < 20; ++looks) {
    first.pass(milliseconds(100));
    REQUIRE(waiting() == 1);
    CHECK(all->find("acme")->places.running() == 0);
  }
  second.partition.add(0, "acme");
  second.begin();
  CHECK(second.until([&] { return working.count() == 1; }));
  CHECK(failing.count() == 2);
}
