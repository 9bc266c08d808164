// What thousands of partitions cost the rebalance machine, counted in partitions that its calls name.
#include <algorithm>
#include <functional>

#include "lane/member/rebalance_machine.h"
#include "lane/simulated_lanes.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

/// Passes all calls on to simulated lanes, and counts.
class CountingSteps final : public RebalanceSteps {
 public:
  void ask_committed(std::uint64_t request, const Partitions& partitions) override {
    count += partitions.size();
    lanes.ask_committed(request, partitions);
  }
  void assign(const std::vector<kafka::CommittedOffset>& from) override {
    count += from.size();
    lanes.assign(from);
  }
  void unassign(const Partitions& partitions, bool all) override {
    count += partitions.size();
    lanes.unassign(partitions, all);
  }
  void drain(const Partitions& leaving, TimePoint deadline) override {
    count += leaving.size();
    lanes.drain(leaving, deadline);
  }
  void cancel(const Partitions& leaving) override {
    count += leaving.size();
    lanes.cancel(leaving);
  }
  bool drained(const kafka::TopicPartition& lane) override {
    ++count;
    return lanes.drained(lane);
  }
  void end(const Partitions& ending, bool given_up) override {
    count += ending.size();
    lanes.end(ending, given_up);
  }
  bool commit_blocked(TimePoint since) const override { return lanes.commit_blocked(since); }
  bool commit(const Partitions& leaving) override {
    count += leaving.size();
    return lanes.commit(leaving);
  }
  bool commit_under_way() const override { return lanes.commit_under_way(); }
  bool refused_for_now(const Partitions& leaving) const override {
    count += leaving.size();
    return lanes.refused_for_now(leaving);
  }
  void forget_commit() override { lanes.forget_commit(); }
  void drained_after(Duration took) override { lanes.drained_after(took); }

  SimulatedLanes lanes;
  mutable std::size_t count = 0;
};

class Partitioned {
 public:
  Partitioned(std::size_t partitions, bool cooperative) : cooperative_(cooperative) {
    steps_.lanes.eager = !cooperative;
    for (std::size_t i = 0; i < partitions; ++i) all_.push_back({"orders", static_cast<std::int32_t>(i)});
  }

  void assign(const Partitions& partitions) {
    machine_.arrived(RebalanceMachine::Kind::assigned, partitions, now());
    machine_.committed_offsets(steps_.lanes.answer(), now());
  }
  /// Each lane finishes at a time of its own.
  void revoke(const Partitions& partitions, bool last_first = false) {
    machine_.arrived(RebalanceMachine::Kind::revoked, partitions, now());
    auto order = partitions;
    if (last_first) std::reverse(order.begin(), order.end());
    for (const auto& partition : order) {
      steps_.lanes.lanes.at(partition).at_work = false;
      machine_.advance(now());
    }
    REQUIRE(steps_.lanes.committing);
    steps_.lanes.answer_commit();
    machine_.advance(now());
  }
  void assign_one_by_one() {
    for (const auto& partition : all_) assign({partition});
  }
  void revoke_one_by_one() {
    for (const auto& partition : all_) revoke({partition});
  }

  const Partitions& all() const { return all_; }
  /// All partitions come and go.
  std::size_t count() const {
    REQUIRE(machine_.at_rest());
    REQUIRE(steps_.lanes.lanes.empty());
    REQUIRE(steps_.lanes.client.empty());
    return steps_.count;
  }

 private:
  TimePoint now() { return steps_.lanes.now += milliseconds(1); }

  const bool cooperative_;
  CountingSteps steps_;
  RebalanceMachine machine_{steps_, std::chrono::hours(1), cooperative_, {}};
  Partitions all_;
};

}  // namespace

TEST_CASE("the cost of 10,000 partitions that come and go is proportional to their number") {
  struct Story {
    bool cooperative;
    std::function<void(Partitioned&)> run;
  };
  const auto all_at_once = [](Partitioned& p) {
    p.assign(p.all());
    p.revoke(p.all());
  };
  const auto last_first = [](Partitioned& p) {
    p.assign(p.all());
    p.revoke(p.all(), true);
  };
  const auto one_by_one = [](Partitioned& p) {
    p.assign_one_by_one();
    p.revoke_one_by_one();
  };
  for (const auto& story : {Story{true, all_at_once}, Story{false, all_at_once}, Story{true, last_first},
                            Story{false, last_first}, Story{true, one_by_one}}) {
    const auto cost = [&](std::size_t partitions) {
      Partitioned world(partitions, story.cooperative);
      story.run(world);
      return world.count();
    };
    const auto half = cost(5000);
    CHECK(cost(10000) <= 2 * half + 100);
    CHECK(half <= 5000 * 12);
  }
}
