// How the size of records decides which of them leave their lane, without a lane.
#include <memory>

#include "catch.h"
#include "lane/stage/one_stage.h"
#include "lane/stage/parking.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

/// Records of a subscriber that takes one a second wait in a lane of 1 MiB; those of another one do not.
struct WaitingBytes : StageSurroundings {
  WaitingBytes() {
    context.parking = &forward;
    context.lanes.park_after = seconds(10);
    context.memory.lane_bytes = 1 << 20;
    stage().settings.each = by_key;
    stage().each = &limits;
    step.parks_in = "orders-retry-10s";
    for (auto* one : {&busy, &idle})
      *one = std::make_unique<Line>(context, stage(), limits.find(one == &busy ? "busy" : "idle"),
                                    Attempts::Members{id, ledger, oldest, &step}, [] {});
    idle->note_worked(now);
  }
  void wait(Sequence sequence, std::size_t bytes) {
    ledger.append(static_cast<std::int64_t>(sequence));
    busy->wait(item_of(sequence, bytes), now);
  }
  std::vector<Sequence> leaving() {
    while (busy->begin(1, now) > 0) busy->charge(1, 100, now);
    REQUIRE(busy->at_own_limit(now));
    Neighbours neighbours;
    for (const auto* one : {busy.get(), idle.get()}) neighbours.add(*one);
    std::vector<Sequence> sequences;
    for (const auto& item :
         Parking(context, stage(), ledger).take_leaving(*busy, neighbours, false, {100, 8 << 20}, now))
      sequences.push_back(item.sequence);
    return sequences;
  }

  const config::Each by_key{.by = {config::Selector::Kind::key, ""}, .rate = {1, 0, seconds(1)}};
  KeyedLimits limits{
      "send", {.breaker = {.failures = 1, .window = seconds(30), .probe = seconds(5)}}, by_key};
  delivery::RetryStep step;
  std::unique_ptr<Line> busy, idle;
};

constexpr std::uint64_t half_of_lane = (1 << 20) / 2;
constexpr std::uint64_t of_a_record = half_of_lane / 16;

}  // namespace

TEST_CASE_METHOD(WaitingBytes,
                 "records of a subscriber that is out leave when they use half of the memory of their lane") {
  const std::string reason = "refused";
  busy->downstream().failed({.reason = reason}, now);
  for (Sequence sequence = 0; sequence < 16; ++sequence) wait(sequence, of_a_record - record_overhead);
  CHECK(busy->bytes() == half_of_lane);
  CHECK(leaving().empty());
  wait(16, 1);
  CHECK(leaving() == std::vector<Sequence>{0});  // and the others are no more than half
}

TEST_CASE_METHOD(WaitingBytes, "the largest record that is parked has 900,000 bytes") {
  wait(0, 900'001);
  wait(1, 900'000);
  now += seconds(10);
  idle->note_worked(now);
  CHECK(leaving() == std::vector<Sequence>{1});
  CHECK(busy->backlog().front().sequence == 0);
}
