// One member of a consumer group, as the consumer loop sees it.
//
// Ownership: the Consumer owns the client handle; PartitionQueues must be destroyed before it closes.
// Threads: one, the consumer loop's, calls everything; the callbacks it is given run on the client's threads
// and must only signal. Nothing blocks except destroy(): requests that the client offers only in blocking
// form (reading committed offsets, the request that wakes a broker thread) run on a helper thread of this
// class and answer as events.
//
// Facts of the client library that shaped this, all measured on librdkafka 2.0.2:
// - Partition queues are popped one message at a time: the batch call loses records on pause and on
// cooperative
//   rebalances before 2.1, and single pops from un-forwarded queues are cheaper than consumer_poll.
// - A queue is un-forwarded before the assignment is made; later, messages slip into the main queue.
// - After a resume the broker thread sleeps up to 1 s. A seek to the offset that would come next wakes it
// (1–2 ms).
// - After a full prefetch buffer it sleeps likewise; any request to that leader wakes it. From 2.2 on
//   fetch.queue.backoff.ms does.
#pragma once

#include <functional>
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
  std::vector<TopicPartition> committed;
  std::vector<TopicPartition> failed;
  std::string error;  ///< the first one, empty when all were acknowledged
};
/// The answer to request_committed; `error` is set when it could not be had.
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
  std::string text;  ///< where access is refused, with the right that is missing
};
/// What laneway reads from the client's statistics.
struct Statistics {
  /// Bytes of records received so far, by partition, refetched ones counted again.
  std::vector<std::pair<TopicPartition, std::uint64_t>> fetched;
  bool connected = true;  ///< to at least one broker
};
using Event = std::variant<Assigned, Revoked, CommitResult, Committed, ClientError, Statistics>;

enum class Pop { record, empty, end_of_partition, error };

/// A partition's own fetch queue, un-forwarded. Destroy it before the partition is unassigned.
class PartitionQueue {
 public:
  PartitionQueue(rd_kafka_queue_s* queue, std::function<void()> on_ready);
  ~PartitionQueue();
  PartitionQueue(const PartitionQueue&) = delete;
  PartitionQueue& operator=(const PartitionQueue&) = delete;

  /// The next message, without waiting.
  Pop pop(Record& record, std::int64_t& offset);
  /// What the last pop that answered `error` was about.
  const std::string& last_error() const { return last_error_; }
  /// Messages fetched and not popped.
  std::size_t length() const;

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

  /// Topic names, or one pattern that starts with ^.
  Status subscribe(const std::vector<std::string>& topics);
  std::optional<Event> poll();

  bool cooperative() const;
  bool assignment_lost() const;
  /// The group is being joined anew: a commit now would fail, and may cost the assignment (join_watch.h).
  bool joining() const;
  /// Whether the client is in a state that forbids commit and close (a fenced static member).
  std::optional<std::string> fatal_error() const;

  /// Before assign(): the partition's own queue. `on_ready` runs on a client thread.
  std::unique_ptr<PartitionQueue> open_queue(const TopicPartition& partition, std::function<void()> on_ready);
  /// Answers Assigned; no_offset means committed or auto.offset.reset.
  Status assign(const std::vector<CommittedOffset>& from);
  /// Answers Revoked, after the queues of the partitions are gone.
  Status unassign(const std::vector<TopicPartition>& partitions, bool all);

  /// Asks for committed offsets and metadata; answers with the event Committed.
  void request_committed(std::uint64_t request, std::vector<TopicPartition> partitions, Duration timeout);
  /// This member as it is now, for offsets that somebody else commits for it.
  GroupMember group_member() const;
  /// Commits; answers with the event CommitResult.
  Status commit(const std::vector<CommittedOffset>& offsets);

  /// Stops fetching; what has been fetched and not popped is discarded.
  Status pause(const TopicPartition& partition);
  /// Goes on from `offset`, without the second that a plain resume waits.
  Status resume(const TopicPartition& partition, std::int64_t offset);
  /// Goes to `offset`; what has been fetched and not popped is discarded.
  Status seek(const TopicPartition& partition, std::int64_t offset);
  /// Wakes the thread of the partition's leader if it sleeps on a full buffer. Cheap to call; at most one
  /// request is under way.
  void wake_leader(const TopicPartition& partition);

  /// The log's end as last heard; no_offset when not known.
  std::int64_t high_watermark(const TopicPartition& partition) const;
  /// Where nothing is fetched, the client hears nothing of the log's end: this asks, and log_end() has the
  /// last answer, or no_offset.
  void ask_log_end(const TopicPartition& partition);
  std::int64_t log_end(const TopicPartition& partition) const;

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
