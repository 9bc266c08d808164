// The order in which partitions come and go: turns the client's events into steps that the loop takes.
//
// The client's events overlap. A revocation arrives while a stop drains. A member that sees added partitions
// itself joins again without waiting for the answer to a revocation, so an assignment arrives while lanes
// still drain. So events wait in a queue, and each is answered in its turn:
// - A revocation is answered when every lane of its partitions has ended, by whichever handover, and the
//   commit of that handover is answered or its time is over. Lost partitions end at once, uncommitted.
// - An assignment is answered when the lanes that were there before have ended and the committed offsets are
//   known. Under the eager protocol the lanes that must end are all lanes, because the answer replaces the
//   whole assignment. Under an incremental protocol, a partition whose offset cannot be read is asked about
//   again and added later.
// - An event that shows that the group went on without waiting ends the lanes of partitions that belong to
//   another member by then: a commit by those lanes would move that member's offsets.
//
// Invariants: a partition has at most one lane; the client is never asked to give up a partition whose lane
// lives; each event is answered, in order; at rest the client's assignment matches the lanes.
//
// Ownership: `steps` outlives the machine. Threads: one, the loop's. Nothing blocks; there is no clock.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/time.h"
#include "kafka/group/consumer.h"

namespace laneway::lane {

using Partitions = std::vector<kafka::TopicPartition>;

/// The steps that the machine asks for. The machine calls them; they must not call the machine.
class RebalanceSteps {
 public:
  /// RebalanceMachine::committed_offsets must be called with the answer and this number.
  virtual void ask_committed(std::uint64_t request, const Partitions& partitions) = 0;
  /// Makes lanes for these partitions and assigns them: in addition to the others, or, under the eager
  /// protocol, instead of all others.
  virtual void assign(const std::vector<kafka::CommittedOffset>& from) = 0;
  /// `all`: the whole assignment, under the eager protocol.
  virtual void unassign(const Partitions& partitions, bool all) = 0;

  virtual void drain(const Partitions& lanes, TimePoint deadline) = 0;
  virtual void cancel(const Partitions& lanes) = 0;
  /// Works the lane. Returns true if no record of the lane is running any more.
  virtual bool drained(const kafka::TopicPartition& lane) = 0;
  /// Ends the lanes with what they have committed until now. `given_up`: their uncommitted work is known to
  /// be done again.
  virtual void end(const Partitions& lanes, bool given_up) = 0;

  /// Returns true if no commit may begin now, because another is under way or the member is joining the
  /// group.
  virtual bool commit_blocked(TimePoint since) const = 0;
  /// Returns false if there is nothing to commit, or nothing may be committed any more.
  virtual bool commit(const Partitions& lanes) = 0;
  virtual bool commit_under_way() const = 0;
  /// Whether the last commit of one of these lanes was refused for a temporary reason.
  virtual bool refused_for_now(const Partitions& lanes) const = 0;
  /// The answer has not come in time; stops waiting for it.
  virtual void forget_commit() = 0;
  /// Reports how long lanes have drained.
  virtual void drained_after(Duration took) = 0;

 protected:
  ~RebalanceSteps() = default;
};

class RebalanceMachine {
 public:
  /// What must be known of a committed offset before its lane begins.
  struct Needs {
    /// Also under the eager protocol, where the whole assignment waits: because commits are exact
    /// (commit_path.h), or the client would begin elsewhere than configured (Consumer::begins_at_end).
    bool offset = false;
    /// Whether a completion map belongs to the topic: because commits are exact.
    bool topic_id = false;
  };
  /// `incremental`: as Consumer::incremental().
  RebalanceMachine(RebalanceSteps& steps, Duration drain, bool incremental, Needs needs)
      : steps_(steps), drain_(drain), incremental_(incremental), needs_(needs) {}
  /// Replaces the time for drains that have not begun yet.
  void set_drain(Duration drain) { drain_ = drain; }

  enum class Kind : std::uint8_t { assigned, revoked, lost };
  /// An event of the client.
  void arrived(Kind kind, Partitions partitions, TimePoint now);
  void committed_offsets(const kafka::Committed& committed, TimePoint now);
  /// Drains all lanes; no new lane begins.
  void stop(TimePoint now);
  /// Compares the client's assignment and the lanes with what the group has given to this member, at rest. If
  /// they differ (no case is known), the partitions of the group that lack a lane or are not read begin
  /// again, and all others are given up. Returns false if they differ.
  bool compare(const Partitions& client, TimePoint now);
  /// Ends the leaving lanes, uncommitted; their work is done again.
  void give_up_handovers();
  /// Continues everything that can continue. `hurry`: drains end now.
  void advance(TimePoint now, bool hurry = false);

  /// The client waits for something, and may deliver nothing meanwhile. A partition that is added later does
  /// not keep it waiting.
  bool rebalancing() const {
    return !handovers_.empty() || !events_.empty() || (owes_answer_ && !arriving_.empty());
  }
  /// Nothing leaves, arrives or waits for its answer.
  bool at_rest() const { return handovers_.empty() && arriving_.empty() && events_.empty(); }
  /// The partitions that have no lane yet, because their committed offsets are not known.
  std::size_t awaited_offsets() const { return arriving_.size(); }
  bool handing_over() const { return !handovers_.empty(); }
  /// The client has not gone on without an answer that it waits for, so the lanes that stay belong to this
  /// member.
  bool lanes_stay_ours() const { return events_.size() < 2; }

 private:
  using HandoverId = std::uint64_t;
  static constexpr HandoverId stays = 0;
  /// Lanes that are leaving.
  struct Handover {
    HandoverId id;
    Partitions lanes;
    Partitions at_work;  // the lanes that have not drained yet
    TimePoint begun;
    TimePoint deadline;
    enum class Step : std::uint8_t { draining, cancelled, committing } step = Step::draining;
    TimePoint next_commit{};
    bool given_up = false;
  };
  struct Event {
    Kind kind;
    Partitions partitions;
    bool begun = false;
    std::set<HandoverId> awaits{};
  };

  void end_what_moved_on(const Event& event);
  bool serve(Event& event, TimePoint now);
  void answer_revoked(const Event& event);
  void serve_assigned(const Event& event);
  void stop_arriving(const Event& event);
  void ask();
  void ask_later(TimePoint now);
  void warn_missing(const std::set<kafka::TopicPartition>& missing, const kafka::Committed& committed) const;
  void begin_lanes(const std::vector<kafka::CommittedOffset>& from);
  void begin_handover(const Partitions& candidates, TimePoint now);
  bool advance(Handover& handover, TimePoint now, bool hurry);
  bool commit(Handover& handover, TimePoint now);
  bool committed(Handover& handover, TimePoint now);
  Partitions all_lanes() const;

  RebalanceSteps& steps_;
  Duration drain_;
  const bool incremental_;
  const Needs needs_;
  // Alive, each with the handover by which the lane leaves.
  std::map<kafka::TopicPartition, HandoverId> lanes_;
  std::vector<Handover> handovers_;
  HandoverId last_handover_ = stays;
  std::deque<Event> events_;                   // not answered yet
  std::set<kafka::TopicPartition> in_client_;  // the client's assignment
  std::set<kafka::TopicPartition> owned_;      // by the events: what the group has given to this member
  std::set<kafka::TopicPartition> arriving_;   // their committed offsets have been requested
  bool owes_answer_ = false;                   // to the assignment that arriving_ came with
  std::optional<TimePoint> ask_at_;            // again, unless an event waits for its answer then
  std::uint64_t request_ = 0;
  bool stopping_ = false;
};

}  // namespace laneway::lane
