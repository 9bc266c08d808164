// One member of a consumer group, as the consumer loop sees it: an interface, so that the loop can be tested
// on a group that a test plays. Consumer::create makes the real one.
//
// Ownership: the Consumer owns the client handle, and its destructor frees the client; that can hang for ever
// inside the library, so no thread should wait for it without a deadline. PartitionQueues are destroyed
// before. Threads: one, the consumer loop's, calls everything; the callbacks it is given run on the client's
// threads and must only signal. Nothing blocks except the destructor: requests that the client offers only in
// blocking form (reading committed offsets, the request that wakes a broker thread) run on a helper thread of
// this class and answer as events.
//
// Facts of the client library that shaped this; docs/client-facts.md has the figures of both releases:
// - After a resume the broker thread sleeps up to 1 s. A seek to the offset that would come next wakes it
//   (1–2 ms).
// - After a full prefetch buffer it sleeps likewise. Before 2.2 any request to that leader wakes it; from 2.2
//   on none does, and fetch.queue.backoff.ms bounds the sleep.
// - auto.offset.reset is always `earliest` here, and only the lane decides where reading goes on
//   (lane/position/position_judge.h). With `error`, an offset out of range stops the partition's fetcher, and
//   a seek is then refused: only a new assignment would start the fetcher again, under the eager protocol one
//   of all partitions (ERR__STATE). With `latest`, the client skips what is still in the log.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kafka/group/partition_queue.h"
#include "kafka/types.h"

namespace laneway::kafka {

/// The group gives us these partitions; answer with Consumer::assign, in time for max.poll.interval.ms.
struct Assigned {
  std::vector<TopicPartition> partitions;
};
/// The group takes these partitions; answer with Consumer::unassign. Lost: they are somebody else's already.
struct Revoked {
  std::vector<TopicPartition> partitions;
  bool lost = false;
};
struct CommitResult {
  std::uint64_t request = 0;  ///< which commit was answered
  std::vector<TopicPartition> committed;
  std::vector<TopicPartition> failed;
  std::string error;  ///< the first one, empty when all were acknowledged
  /// The broker takes less metadata than came with an offset (its offset.metadata.max.bytes).
  bool metadata_too_long = false;
  /// Refused for a reason that passes, such as a coordinator that is only beginning: asking again soon helps.
  bool passing = false;
};
/// The answer to request_committed; `error` is set when the offsets were unavailable.
struct Committed {
  std::uint64_t request = 0;
  std::vector<CommittedOffset> offsets;
  std::string error;
  /// By the coordinator, for all partitions or with an error of some.
  bool answered = false;
};
struct ClientError {
  bool fatal = false;
  /// The user may not join the group; the client goes on trying.
  bool group_denied = false;
  /// Of a connection to a broker, which the client makes anew.
  bool connection = false;
  std::string text;  ///< where access is refused, with the right that is missing
};
/// What laneway reads from the client's statistics.
struct Statistics {
  /// Bytes of records received so far, by partition, refetched ones counted again.
  std::vector<std::pair<TopicPartition, std::uint64_t>> fetched;
  std::map<TopicPartition, std::int32_t> leaders;  ///< the brokers that the client asks
  bool connected = true;                           ///< to at least one broker
};
using Event = std::variant<Assigned, Revoked, CommitResult, Committed, ClientError, Statistics>;

class Consumer {
 public:
  /// `on_event` is called from client threads when poll() has something.
  static Result<std::unique_ptr<Consumer>> create(const ClientSettings& settings, const FetchLimits& limits,
                                                  std::function<void()> on_event);
  virtual ~Consumer() = default;

  /// Topic names, or one pattern that starts with ^ and finds the same topics under each group.protocol.
  virtual Status subscribe(const std::vector<std::string>& topics) = 0;
  virtual std::optional<Event> poll() = 0;

  virtual bool cooperative() const = 0;
  virtual bool assignment_lost() const = 0;
  /// The group is being joined anew, and has not let this member in yet.
  virtual bool joining() const = 0;
  /// A request of a join is under way: a commit now would fail, and may cost the assignment (join_watch.h).
  virtual bool join_under_way() const = 0;
  /// The client takes part in no further rebalance, and holds up those of the group (join_watch.h).
  virtual bool must_be_renewed() const = 0;
  /// Why the client is in a state that forbids commit and close (a fenced static member).
  virtual std::optional<Error> fatal_error() const = 0;

  /// Before assign(): the partition's own queue. `on_ready` runs on a client thread.
  virtual std::unique_ptr<PartitionQueue> open_queue(const TopicPartition& partition,
                                                     std::function<void()> on_ready) = 0;
  /// Answers Assigned. What has no_offset begins where auto.offset.reset says.
  virtual Status assign(const std::vector<CommittedOffset>& from) = 0;
  /// Answers Revoked, after the queues of the partitions are gone.
  virtual Status unassign(const std::vector<TopicPartition>& partitions, bool all) = 0;
  /// What the client has assigned; nothing when it cannot say.
  virtual std::optional<std::vector<TopicPartition>> assignment() const = 0;

  /// Asks for committed offsets and metadata; answers with the event Committed.
  virtual void request_committed(std::uint64_t request, std::vector<TopicPartition> partitions,
                                 Duration timeout) = 0;
  /// This member as it is now, for offsets that somebody else commits for it.
  virtual GroupMember group_member() const = 0;
  /// Commits; answers with the event CommitResult, which has the number.
  virtual Status commit(std::uint64_t request, const std::vector<CommittedOffset>& offsets) = 0;

  /// Stops fetching; what has been fetched and not popped is discarded.
  virtual Status pause(const TopicPartition& partition) = 0;
  /// Goes on from `offset`, without the second that a plain resume waits.
  virtual Status resume(const TopicPartition& partition, std::int64_t offset) = 0;
  /// Goes to `offset`; what has been fetched and not popped is discarded.
  virtual Status seek(const TopicPartition& partition, std::int64_t offset) = 0;
  /// Wakes the thread of the partition's leader if it sleeps on a full buffer. Cheap to call; at most one
  /// request is under way.
  virtual void wake_leader(const TopicPartition& partition) = 0;

  /// The log's bounds as the last fetch named them.
  virtual LogBounds fetched_bounds(const TopicPartition& partition) const = 0;
  /// Where nothing is fetched, or where a fetch is not to be believed, this asks for the log's bounds;
  /// log_answer() has what came of it. `find_leader`: see inquiries.h.
  virtual void ask_log(const TopicPartition& partition, bool find_leader) = 0;
  virtual LogAnswer log_answer(const TopicPartition& partition) const = 0;

  /// Leaves the group; Revoked may still come and wants its answer. Then closed() turns true.
  virtual Status begin_close() = 0;
  virtual bool closed() const = 0;
};

}  // namespace laneway::kafka
