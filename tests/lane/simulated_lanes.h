// The loop's side of a rebalance machine, simulated: lanes that work, drain and end, one commit at a time,
// and the client's assignment. Each step is checked against the invariants.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "catch.h"
#include "lane/member/rebalance_machine.h"

namespace laneway::lane {

class SimulatedLanes final : public RebalanceSteps {
 public:
  using Partition = kafka::TopicPartition;
  struct SimulatedLane {
    bool at_work = true;
    bool committed = false;  // or nothing may be committed, or the answer did not come in time
    std::optional<TimePoint> leaving_until{};
    std::optional<TimePoint> cancelled{};
    std::optional<TimePoint> commit_begun{};
    bool refused = false;  // the commit, temporarily
  };

  void ask_committed(std::uint64_t request, const Partitions& partitions) override {
    asked_request = request;
    asked = partitions;
  }
  void assign(const std::vector<kafka::CommittedOffset>& from) override {
    if (eager) {
      CHECK(lanes.empty());
      client.clear();
    }
    for (const auto& start : from) {
      CHECK(lanes.emplace(start.partition, SimulatedLane{}).second);
      CHECK(client.insert(start.partition).second);  // the client refuses a partition that it already has
      began[start.partition] = start.offset;
    }
    ++answers;
    if (on_assign) on_assign();
  }
  void unassign(const Partitions& partitions, bool all) override {
    CHECK(all == eager);
    for (const auto& partition : partitions) CHECK_FALSE(lanes.contains(partition));
    if (all) {
      CHECK(lanes.empty());
      client.clear();
    }
    for (const auto& partition : partitions) CHECK((all || client.erase(partition) == 1));
    ++answers;
    if (on_unassign) on_unassign();
  }
  void drain(const Partitions& leaving, TimePoint deadline) override {
    for (const auto& partition : leaving) {
      CHECK_FALSE(lanes.at(partition).leaving_until);
      lanes.at(partition).leaving_until = deadline;
    }
  }
  void cancel(const Partitions& leaving) override {
    for (const auto& partition : leaving)
      if (const auto lane = lanes.find(partition); lane != lanes.end()) lane->second.cancelled = now;
  }
  bool drained(const Partition& lane) override { return !lanes.at(lane).at_work; }
  void end(const Partitions& ending, bool given_up) override {
    for (const auto& partition : ending) {
      const auto lane = lanes.find(partition);
      REQUIRE(lane != lanes.end());
      if (!given_up && !may_be_lost.contains(partition)) {
        const auto& [at_work, committed, leaving_until, cancelled, commit_begun, refused] = lane->second;
        CHECK(leaving_until);
        CHECK((!at_work || (cancelled && now >= *cancelled + seconds(1))));
        CHECK((committed || (commit_begun && now >= *commit_begun + seconds(2))));
      }
      lanes.erase(lane);
    }
  }
  bool commit_blocked(TimePoint since) const override {
    return commit_under_way() || (joining && now < since + seconds(2));
  }
  bool commit(const Partitions& leaving) override {
    CHECK_FALSE(committing);
    if (!can_commit) {
      for (const auto& partition : leaving) lanes.at(partition).committed = true;
      return false;
    }
    committing = leaving;
    for (const auto& partition : leaving) {
      auto& begun = lanes.at(partition).commit_begun;
      if (!begun) begun = now;
    }
    return true;
  }
  bool commit_under_way() const override { return committing.has_value(); }
  bool refused_for_now(const Partitions& leaving) const override {
    return std::any_of(leaving.begin(), leaving.end(),
                       [this](const auto& partition) { return lanes.at(partition).refused; });
  }
  void forget_commit() override { answer_commit(); }
  void drained_after(Duration) override {}

  void answer_commit() {
    for (const auto& partition : committing.value_or(Partitions{}))
      if (const auto lane = lanes.find(partition); lane != lanes.end()) {
        lane->second.committed = true;
        lane->second.refused = false;
      }
    committing.reset();
  }
  void refuse_commit() {
    for (const auto& partition : committing.value_or(Partitions{}))
      if (const auto lane = lanes.find(partition); lane != lanes.end()) lane->second.refused = true;
    committing.reset();
  }
  void finish_work() {
    for (auto& [partition, lane] : lanes) lane.at_work = false;
  }
  /// The coordinator's answer to the last question.
  kafka::Committed answer() const {
    kafka::Committed committed{asked_request, {}, {}, true};
    for (const auto& partition : asked) committed.offsets.push_back({partition, 0, {}});
    return committed;
  }
  std::set<Partition> alive() const {
    std::set<Partition> result;
    for (const auto& [partition, lane] : lanes) result.insert(partition);
    return result;
  }

  bool eager = true;
  TimePoint now{};
  std::map<Partition, SimulatedLane> lanes;
  std::map<Partition, std::int64_t> began;
  std::set<Partition> client;       // the client's assignment
  std::set<Partition> may_be_lost;  // may belong to another member by now
  std::uint64_t asked_request = 0;
  Partitions asked;
  std::optional<Partitions> committing;
  bool can_commit = true;
  bool joining = false;
  int answers = 0;
  std::function<void()> on_assign{};
  std::function<void()> on_unassign{};
};

}  // namespace laneway::lane
