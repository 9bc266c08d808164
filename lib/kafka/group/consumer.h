// One member of a consumer group, as the consumer loop sees it.
//
// Ownership: the Consumer owns the client handle; PartitionQueues must be destroyed before it closes.
// Threads: one, the consumer loop's, calls everything; the callbacks it is given run on the client's threads
// and must only signal. Nothing blocks except destroy(): requests that the client offers only in blocking
// form (reading committed offsets, the request that wakes a broker thread) run on a helper thread of this
// class and answer as events.
//
// Facts of the client library that shaped this; docs/client-facts.md has the figures of both releases:
// - Partition queues are popped one message at a time: the batch call loses records on pause and on
// cooperative
//   rebalances before 2.1, and single pops from un-forwarded queues are cheaper than consumer_poll.
// - A queue is un-forwarded before the assignment is made; later, messages slip into the main queue.
// - After a resume the broker thread sleeps up to 1 s. A seek to the offset that would come next wakes it
// (1–2 ms).
// - After a full prefetch buffer it sleeps likewise. Before 2.2 any request to that leader wakes it; from 2.2
// on
//   none does, and fetch.queue.backoff.ms bounds the sleep.
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
#include "kafka/record.h"
#include "kafka/types.h"

struct rd_kafka_s;
struct rd_kafka_queue_s;

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

enum class Pop {
  record,
  empty,
  end_of_partition,
  corrupt,  ///< A batch fails its checksum; the offset is that of its first record.
  gone,     ///< There is no such partition: its topic was deleted, or a broker does not know it yet.
  error,
};

/// A partition's own fetch queue, un-forwarded. Destroy it before the partition is unassigned.
class PartitionQueue {
 public:
  PartitionQueue(rd_kafka_queue_s* queue, std::function<void()> on_ready);
  ~PartitionQueue();
  PartitionQueue(const PartitionQueue&) = delete;
  PartitionQueue& operator=(const PartitionQueue&) = delete;

  /// The next message, without waiting.
  Pop pop(Record& record, std::int64_t& offset);
  /// What the last pop that answered `error`, `corrupt` or `gone` was about.
  const std::string& last_error() const { return last_error_; }
  /// Messages fetched and not popped.
  std::size_t length() const;

  /// For the client's error callback: errors of a partition that the client does not hand out as messages (a
  /// topic that does not exist any more) are given to the callback in the middle of a pop. False where no pop
  /// is under way in this thread.
  static bool take_error(int code, const char* text);

 private:
  std::unique_ptr<rd_kafka_queue_s, void (*)(rd_kafka_queue_s*)> queue_;
  std::function<void()> on_ready_;  // called when the queue becomes non-empty
  std::string last_error_;
};

class Consumer {
 public:
  /// `on_event` is called from client threads when poll() has something.
  static Result<std::unique_ptr<Consumer>> create(const ClientSettings& settings, const FetchLimits& limits,
                                                  std::function<void()> on_event);
  virtual ~Consumer();

  /// Topic names, or one pattern that starts with ^ and finds the same topics under each group.protocol.
  Status subscribe(const std::vector<std::string>& topics);
  std::optional<Event> poll();

  bool cooperative() const;
  bool assignment_lost() const;
  /// The group is being joined anew, and has not let this member in yet.
  bool joining() const;
  /// A request of a join is under way: a commit now would fail, and may cost the assignment (join_watch.h).
  bool join_under_way() const;
  /// The client takes part in no further rebalance, and holds up those of the group (join_watch.h).
  bool must_be_renewed() const;
  /// Why the client is in a state that forbids commit and close (a fenced static member).
  std::optional<Error> fatal_error() const;

  /// Before assign(): the partition's own queue. `on_ready` runs on a client thread.
  std::unique_ptr<PartitionQueue> open_queue(const TopicPartition& partition, std::function<void()> on_ready);
  /// Answers Assigned. What has no_offset begins where auto.offset.reset says.
  Status assign(const std::vector<CommittedOffset>& from);
  /// Answers Revoked, after the queues of the partitions are gone.
  Status unassign(const std::vector<TopicPartition>& partitions, bool all);
  /// What the client has assigned; nothing when it cannot say.
  std::optional<std::vector<TopicPartition>> assignment() const;

  /// Asks for committed offsets and metadata; answers with the event Committed.
  void request_committed(std::uint64_t request, std::vector<TopicPartition> partitions, Duration timeout);
  /// This member as it is now, for offsets that somebody else commits for it.
  GroupMember group_member() const;
  /// Commits; answers with the event CommitResult, which has the number.
  Status commit(std::uint64_t request, const std::vector<CommittedOffset>& offsets);

  /// Stops fetching; what has been fetched and not popped is discarded.
  Status pause(const TopicPartition& partition);
  /// Goes on from `offset`, without the second that a plain resume waits.
  Status resume(const TopicPartition& partition, std::int64_t offset);
  /// Goes to `offset`; what has been fetched and not popped is discarded.
  Status seek(const TopicPartition& partition, std::int64_t offset);
  /// Wakes the thread of the partition's leader if it sleeps on a full buffer. Cheap to call; at most one
  /// request is under way.
  void wake_leader(const TopicPartition& partition);

  /// The log's bounds as the last fetch named them.
  LogBounds fetched_bounds(const TopicPartition& partition) const;
  /// Where nothing is fetched, or where a fetch is not to be believed, this asks for the log's bounds;
  /// log_answer() has what came of it. `find_leader`: see inquiries.h.
  void ask_log(const TopicPartition& partition, bool find_leader);
  LogAnswer log_answer(const TopicPartition& partition) const;

  /// Leaves the group; Revoked may still come and wants its answer. Then closed() turns true.
  Status begin_close();
  bool closed() const;
  /// Frees the client. Can hang for ever inside the library; call it on a thread that nothing waits for
  /// without a deadline.
  void destroy();

 private:
  class Implementation;
  explicit Consumer(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace laneway::kafka
