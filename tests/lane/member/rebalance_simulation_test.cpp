// A machine under a client that behaves like librdkafka 2.0.2: events from seeds, which overlap.
#include <algorithm>
#include <deque>
#include <random>

#include "lane/member/rebalance_machine.h"
#include "lane/simulated_lanes.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

using Set = std::set<kafka::TopicPartition>;

Set without(Set from, const Set& what) {
  for (const auto& partition : what) from.erase(partition);
  return from;
}

/// The part of the client's rdkafka_cgrp.c that decides which event comes when, and the effect of an answer.
class SimulatedClient {
 public:
  enum class State { joining, wait_assign, wait_unassign, steady };
  struct Event {
    enum class Kind { assigned, revoked, lost } kind;
    Set partitions;
  };

  explicit SimulatedClient(bool eager) : eager_(eager) {}

  /// A heartbeat's answer starts a rebalance.
  void rebalance() {
    if (state_ != State::steady) return;
    if (eager_) return revoke(Event::Kind::revoked, std::exchange(owned_, {}));
    state_ = State::joining;
  }
  /// The client notices a change of the topics itself, and waits for no answer (revoke_all_rejoin).
  void metadata_changed() {
    if (eager_ && !owned_.empty() && state_ != State::wait_assign && state_ != State::wait_unassign)
      return revoke(Event::Kind::revoked, std::exchange(owned_, {}));
    state_ = State::joining;
  }
  void topics_deleted(const Set& topics) {
    if (eager_) return metadata_changed();
    Set gone;
    for (const auto& partition : topics)
      if (owned_.erase(partition) > 0) gone.insert(partition);
    if (!gone.empty()) revoke(Event::Kind::lost, gone);
  }
  void expelled() {
    if (state_ != State::steady) return;
    rejoin_ = true;
    revoke(Event::Kind::lost, std::exchange(owned_, {}));
  }
  void joined(const Set& target) {
    if (state_ != State::joining) return;
    const auto added = without(target, owned_);
    const auto gone = without(owned_, target);
    then_assigned_.reset();
    if (eager_) {
      owned_ = target;
      return assign(target);
    }
    rejoin_ = false;
    if (gone.empty()) {
      owned_ = target;
      return assign(added);
    }
    owned_ = without(owned_, gone);
    then_assigned_ = added;
    revoke(Event::Kind::revoked, gone);
  }

  void on_assign() {
    if (state_ != State::wait_assign) return;
    state_ = std::exchange(rejoin_, false) ? State::joining : State::steady;
  }
  void on_unassign() {
    if (state_ != State::wait_unassign) return;
    state_ = State::joining;
    if (eager_) return;
    if (then_assigned_) {
      const auto added = *std::exchange(then_assigned_, std::nullopt);
      owned_.insert(added.begin(), added.end());
      rejoin_ = true;
      return assign(added);
    }
    if (!std::exchange(rejoin_, false)) state_ = State::steady;
  }

  State state() const { return state_; }
  const Set& owned() const { return owned_; }
  std::deque<Event> events;

 private:
  void assign(const Set& partitions) {
    events.push_back({Event::Kind::assigned, partitions});
    state_ = State::wait_assign;
  }
  void revoke(Event::Kind kind, const Set& partitions) {
    events.push_back({kind, partitions});
    state_ = State::wait_unassign;
  }

  const bool eager_;
  State state_ = State::joining;
  Set owned_;                         // the partitions that the group gave to the client
  std::optional<Set> then_assigned_;  // after the answer to a revocation
  bool rejoin_ = false;
};

class Simulation {
 public:
  Simulation(std::uint32_t seed, bool eager, bool exact)
      : eager_(eager),
        random_(seed),
        client_(eager),
        machine_(lanes_, seconds(20), !eager, {.offset = exact, .topic_id = exact}) {
    lanes_.eager = eager;
    lanes_.on_assign = [this] { client_.on_assign(); };
    lanes_.on_unassign = [this] {
      unanswered_.pop_front();
      client_.on_unassign();
    };
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      step();
      lanes_.now += milliseconds(static_cast<std::int64_t>(below(20) == 0 ? below(15000) : below(50)));
      machine_.advance(lanes_.now);
    }
  }

  /// The group settles and everything is answered: nothing may be left over.
  void settle() {
    lanes_.joining = false;
    for (int i = 0; i < 100; ++i) {
      client_.joined(client_.owned().empty() ? some() : client_.owned());
      deliver();
      machine_.committed_offsets(lanes_.answer(), lanes_.now);
      for (auto& [partition, lane] : lanes_.lanes)
        if (lane.leaving_until) lane.at_work = false;
      lanes_.answer_commit();
      lanes_.now += milliseconds(100);  // temporarily refused commits are sent again
      machine_.advance(lanes_.now);
    }
    CHECK(machine_.at_rest());
    CHECK_FALSE(machine_.rebalancing());
    CHECK(client_.state() == SimulatedClient::State::steady);
    CHECK(lanes_.alive() == (stopped_ ? Set{} : client_.owned()));
    if (!stopped_)
      CHECK(lanes_.client == lanes_.alive());  // otherwise it gives the partitions back when it
                                               // leaves
  }

 private:
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_()) % bound; }

  Set some() {
    Set result;
    for (int p = 0; p < 6; ++p)
      if (below(2) == 0) result.insert({"orders", p});
    return result;
  }

  void step() {
    switch (below(15)) {
      case 0:
        return client_.rebalance();
      case 1:
        return below(3) == 0 ? client_.metadata_changed() : void();
      case 2:
        return below(6) == 0 ? client_.topics_deleted(some()) : void();
      case 3:
        return below(6) == 0 ? client_.expelled() : void();
      case 4:
      case 5:
        return client_.joined(some());
      case 6:
        lanes_.joining = below(2) == 0;
        return;
      case 7:
        return below(3) == 0 && lanes_.committing ? lanes_.refuse_commit() : lanes_.answer_commit();
      case 8:
        return answer_question();
      case 9:
        return finish_one();
      case 10:
        lanes_.can_commit = below(4) > 0;
        if (below(10) == 0) machine_.give_up_handovers();
        return;
      case 11:
        if (below(60) > 0 || stopped_) return;
        stopped_ = true;
        return machine_.stop(lanes_.now);
      case 12:
        return below(10) == 0 ? break_assignment() : void();
      default:
        return deliver();
    }
  }

  /// Makes the client's assignment wrong.
  void break_assignment() {
    if (stopped_ || !machine_.at_rest()) return;
    CHECK(compare());
    for (const auto& partition : some()) {
      lanes_.client.erase(partition);
      if (below(4) == 0) lanes_.client.insert(partition);
    }
    const bool same = lanes_.client == lanes_.alive();
    auto differing = without(lanes_.client, lanes_.alive());
    differing.merge(without(lanes_.alive(), lanes_.client));
    if (!same && !eager_) unanswered_.push_back(differing);  // the machine's own revocation
    CHECK(compare() == same);
  }
  bool compare() { return machine_.compare({lanes_.client.begin(), lanes_.client.end()}, lanes_.now); }

  void answer_question() {
    auto answer = lanes_.answer();
    if (below(4) == 0) {
      answer.error = "broken";
      answer.answered = below(2) == 0;
      std::erase_if(answer.offsets, [&](const auto&) { return !answer.answered || below(2) == 0; });
    }
    machine_.committed_offsets(answer, lanes_.now);
  }

  void finish_one() {
    if (lanes_.lanes.empty()) return;
    auto lane = lanes_.lanes.begin();
    std::advance(lane, below(static_cast<std::uint32_t>(lanes_.lanes.size())));
    lane->second.at_work = false;
  }

  void deliver() {
    if (client_.events.empty()) return;
    const auto event = client_.events.front();
    client_.events.pop_front();
    const bool assigned = event.kind == SimulatedClient::Event::Kind::assigned;
    const bool lost = event.kind == SimulatedClient::Event::Kind::lost;
    if (lost)
      lanes_.may_be_lost = eager_ ? lanes_.alive() : event.partitions;
    else if (eager_)
      lanes_.may_be_lost = assigned ? without(lanes_.alive(), event.partitions) : Set{};
    else
      for (const auto& before : unanswered_)
        lanes_.may_be_lost.merge(without(before, assigned ? event.partitions : Set{}));
    if (!assigned) unanswered_.push_back(event.partitions);
    const Partitions partitions(event.partitions.begin(), event.partitions.end());
    using Kind = RebalanceMachine::Kind;
    machine_.arrived(assigned ? Kind::assigned : lost ? Kind::lost : Kind::revoked, partitions, lanes_.now);
    lanes_.may_be_lost.clear();
  }

  const bool eager_;
  std::minstd_rand random_;
  SimulatedClient client_;
  SimulatedLanes lanes_;
  RebalanceMachine machine_;
  std::deque<Set> unanswered_;  // revocations that the machine has received
  bool stopped_ = false;
};

}  // namespace

TEST_CASE("at any overlap, each partition has one lane and each event gets its answer") {
  for (const bool eager : {true, false})
    for (std::uint32_t seed = 1; seed <= 1000; ++seed) {
      INFO((eager ? "eager" : "cooperative") << ", seed " << seed);
      Simulation simulation(seed, eager, seed % 4 == 0);
      for (int round = 0; round < 4; ++round) {
        simulation.run(100);
        simulation.settle();
      }
    }
}
