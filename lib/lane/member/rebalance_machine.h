// In which order partitions come and go: the client's events become steps that the loop takes.
//
// The client's events overlap. A revocation comes while a stop drains. A member that sees added partitions by
// itself joins again without waiting for the answer to a revocation, so that an assignment comes while lanes
// still drain. So events wait in a queue, and each is answered in its turn:
// - A revocation is answered when every lane of its partitions has ended, by whichever handover, and the
//   commit of that handover is answered or has had its time. Lost partitions end at once, uncommitted.
// - An assignment is answered when the lanes that were there before have ended and the committed offsets are
//   known. Under the eager protocol that is every lane, because the answer replaces the whole assignment.
// - An event that shows that the group went on without waiting ends the lanes of partitions that are another
//   member's by then: a commit of theirs would move that member's offsets.
//
// What holds at any time: a partition has at most one lane; the client is asked to give up no partition
// whose lane lives; each event is answered, in order; at rest the client's assignment is what the lanes are.
//
// Ownership: `steps` outlives the machine. Threads: one, the loop's. Nothing blocks; there is no clock.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "base/time.h"
#include "kafka/group/consumer.h"

namespace laneway::lane {

using Partitions = std::vector<kafka::TopicPartition>;

/// What the machine has done. The machine calls it; it must not call the machine back.
class RebalanceSteps {
 public:
  virtual ~RebalanceSteps() = default;

  /// Answered by RebalanceMachine::committed_offsets with this number.
  virtual void ask_committed(std::uint64_t request, const Partitions& partitions) = 0;
  /// Makes lanes for these and assigns them: in addition, or instead of all others under the eager protocol.
  virtual void assign(const std::vector<kafka::CommittedOffset>& from) = 0;
  /// `all`: the whole assignment, under the eager protocol.
  virtual void unassign(const Partitions& partitions, bool all) = 0;

  virtual void drain(const Partitions& lanes, TimePoint deadline) = 0;
  virtual void cancel(const Partitions& lanes) = 0;
  /// Works the lane; true when nothing of it is at work any more.
  virtual bool drained(const kafka::TopicPartition& lane) = 0;
  /// The lanes are over, with what they have committed until now. `given_up`: they are known to be done
  /// again.
  virtual void end(const Partitions& lanes, bool given_up) = 0;

  /// This is no time to begin a commit: another is under way, or the group is being joined.
  virtual bool commit_blocked(TimePoint since) const = 0;
  /// False when there is nothing to commit, or nothing may be committed any more.
  virtual bool commit(const Partitions& lanes) = 0;
  virtual bool commit_under_way() const = 0;
  /// The last commit of one of these was refused for a reason that passes.
  virtual bool refused_for_now(const Partitions& lanes) const = 0;
  /// The answer has not come in time, and is not waited for any more.
  virtual void forget_commit() = 0;
  /// So long have lanes drained.
  virtual void drained_after(Duration took) = 0;
};

class RebalanceMachine {
 public:
  /// `exact`: where the committed offsets are not known nothing may begin (commit_path.h).
  RebalanceMachine(RebalanceSteps& steps, Duration drain, bool exact)
      : steps_(steps), drain_(drain), exact_(exact) {}
  /// For drains that begin from now on.
  void set_drain(Duration drain) { drain_ = drain; }

  void assigned(Partitions partitions, bool cooperative, TimePoint now);
  void revoked(Partitions partitions, bool lost, bool cooperative, TimePoint now);
  void committed_offsets(const kafka::Committed& committed);
  /// All lanes drain, and none begins any more.
  void stop(TimePoint now);
  /// Drains end now.
  void hurry() { hurry_ = true; }
  /// Compares the client's assignment with the lanes, at rest. Where they differ (no case is known), lanes
  /// that the client does not read are handed over and begin again, and what has no lane is given up. False:
  /// they differ.
  bool compare(const Partitions& client, bool cooperative, TimePoint now);
  /// What the lanes that are leaving have done is done again: they end, uncommitted.
  void give_up_handovers();
  /// Goes on with whatever can go on.
  void advance(TimePoint now);

  /// Nothing leaves, arrives or waits for its answer.
  bool at_rest() const { return handovers_.empty() && arriving_.empty() && events_.empty(); }
  bool handing_over() const { return !handovers_.empty(); }
  /// The client waits for an answer, and has not gone on without: the lanes that stay are this member's.
  bool client_waits() const { return events_.size() < 2; }

 private:
  using HandoverId = std::uint64_t;
  static constexpr HandoverId stays = 0;
  /// Lanes on their way out.
  struct Handover {
    HandoverId id;
    Partitions lanes;
    Partitions at_work;  // of these, those that have not drained yet
    TimePoint begun;
    TimePoint deadline;
    enum class Step : std::uint8_t { draining, cancelled, committing } step = Step::draining;
    TimePoint next_commit{};
    bool given_up = false;
  };
  struct Event {
    enum class Kind : std::uint8_t { assigned, revoked, lost } kind;
    Partitions partitions;
    bool cooperative;
    bool begun = false;
    std::set<HandoverId> awaits{};
  };

  void push(Event event, TimePoint now);
  void end_what_moved_on(const Event& event);
  bool serve(Event& event, TimePoint now);
  void begin(Event& event, TimePoint now);
  bool awaits_lanes(const Event& event) const;
  void answer_revoked(const Event& event);
  void serve_assigned(const Event& event);
  void stop_arriving(const Event& event);
  void ask();
  void begin_handover(const Partitions& candidates, TimePoint now);
  bool advance(Handover& handover, TimePoint now);
  bool drained(Handover& handover, TimePoint now);
  bool commit(Handover& handover, TimePoint now);
  bool committed(Handover& handover, TimePoint now);
  void finish(const Handover& handover);
  void lose(const Partitions& partitions);
  Partitions all_lanes() const;

  RebalanceSteps& steps_;
  Duration drain_;
  const bool exact_;
  std::map<kafka::TopicPartition, HandoverId> lanes_;  // alive, with the handover by which each leaves
  std::vector<Handover> handovers_;
  HandoverId last_handover_ = stays;
  std::deque<Event> events_;                   // not answered yet
  std::set<kafka::TopicPartition> in_client_;  // the client's assignment
  std::set<kafka::TopicPartition> arriving_;   // their committed offsets have been asked for
  std::uint64_t request_ = 0;
  bool stopping_ = false;
  bool hurry_ = false;
};

}  // namespace laneway::lane
