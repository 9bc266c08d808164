// One member of a consumer group, as the consumer loop sees it. This is an interface, so that tests can run
// the loop on a simulated group. Consumer::create makes the real member.
//
// Ownership: the Consumer owns the client handle, and its destructor frees the client. The library can hang
// forever in that call, so no thread should wait for the destructor without a deadline. PartitionQueues must
// be destroyed earlier. Threads: the consumer loop's thread makes all calls. The callbacks run on the
// client's threads and must only signal. Nothing blocks except the destructor: requests that the client
// offers only in blocking form (reading committed offsets, and the request that wakes a broker thread) run on
// a helper thread of this class, and their answers arrive as events.
//
// Facts of the client library that shaped this class; docs/client-facts.md has the figures of both releases:
// - After a resume, the broker thread sleeps up to 1 s. A seek to the offset that would come next wakes the
//   thread (1–2 ms).
// - After a full prefetch buffer, the broker thread sleeps likewise. Before release 2.2, any request to that
//   leader wakes the thread. From 2.2 on, no request does, and fetch.queue.backoff.ms bounds the sleep.
// - auto.offset.reset is always `earliest` here, and only the lane decides where reading continues
//   (lane/position/position_judge.h). With `error`, an offset out of range stops the partition's fetcher, and
//   the client then refuses a seek: only a new assignment would start the fetcher again, and under the eager
//   protocol a new assignment concerns all partitions (ERR__STATE). With `latest`, the client skips records
//   that are still in the log.
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

/// The group assigns these partitions to us. Answer with Consumer::assign, within max.poll.interval.ms.
struct Assigned {
  std::vector<TopicPartition> partitions;
};
/// The group takes these partitions away. Answer with Consumer::unassign. `lost`: another member already has
/// them.
struct Revoked {
  std::vector<TopicPartition> partitions;
  bool lost = false;
};
struct CommitResult {
  std::uint64_t request = 0;  ///< the number of the commit that was answered
  std::vector<TopicPartition> committed;
  std::vector<TopicPartition> failed;
  std::string error;  ///< the first error; empty if all were acknowledged
  /// The metadata of an offset is longer than the broker accepts (the broker's offset.metadata.max.bytes).
  bool metadata_too_long = false;
  /// The request may be larger than the brokers store at once (commit_parts.h). Kafka 4 answers such a
  /// request with an unknown error, so this may also be another error.
  bool perhaps_too_large = false;
  /// The reason is temporary, for example a coordinator that is starting: a new attempt will soon succeed.
  bool passing = false;
};
/// The answer to request_committed. `error` is set if offsets were unavailable.
struct Committed {
  std::uint64_t request = 0;
  std::vector<CommittedOffset> offsets;  ///< of the partitions whose offset was available
  std::string error;
  /// The coordinator answered, for all partitions, or with an error for some of them.
  bool answered = false;
};
struct ClientError {
  bool fatal = false;
  /// The user may not join the group; the client keeps trying.
  bool group_denied = false;
  /// The error concerns a connection to a broker, which the client makes again.
  bool connection = false;
  std::string text;  ///< includes the missing right if access is refused
};
/// The part of the client's statistics that laneway reads.
struct Statistics {
  /// Bytes of records received so far, by partition. Records that are fetched again count again.
  std::vector<std::pair<TopicPartition, std::uint64_t>> fetched;
  std::map<TopicPartition, std::int32_t> leaders;  ///< the broker that the client asks about each partition
  bool connected = true;                           ///< to at least one broker
  bool coordinator = true;                         ///< the group's coordinator is known and connected
  /// By how much the brokers have delayed this client because of quotas, since the last statistics; added up.
  Duration throttled{};
  std::vector<std::string> brokers{};  ///< the connected brokers, as HOST:PORT
  /// Where the last fetch found an open transaction, by partition.
  std::map<TopicPartition, std::int64_t> open_transactions{};
};
/// The answer to ask_topics: the topics of the cluster that the user may describe.
struct TopicsFound {
  std::vector<std::string> topics;
  std::string error;  ///< why no broker answered; empty if one did
};
using Event = std::variant<Assigned, Revoked, CommitResult, Committed, ClientError, Statistics, TopicsFound>;

class Consumer {
 public:
  /// `on_event` is called on client threads when poll() has an event.
  static Result<std::unique_ptr<Consumer>> create(const ClientSettings& settings, const FetchLimits& limits,
                                                  std::function<void()> on_event);
  virtual ~Consumer() = default;

  /// The names of topics, at least one. Replaces an earlier subscription; best done while no rebalance is
  /// under way.
  virtual Status subscribe(const std::vector<std::string>& topics) = 0;
  /// Requests the names of all topics. The answer is the event TopicsFound.
  virtual void ask_topics() = 0;
  virtual std::optional<Event> poll() = 0;

  /// A rebalance gives or takes single partitions; otherwise the whole assignment.
  virtual bool incremental() const = 0;
  virtual bool assignment_lost() const = 0;
  /// The member is joining the group again, and the group has not admitted it yet.
  virtual bool joining() const = 0;
  /// Where the brokers distribute the partitions, the epoch at which they have admitted this member; 0 before
  /// that, and under the other protocols. A member that the brokers removed is admitted again at another
  /// epoch. The client reports no assignment to a member that is admitted without partitions. Asks the
  /// client's main thread, as assignment() does.
  virtual std::int32_t member_epoch() const = 0;
  /// A request of a join is under way. A commit now would fail, and might cost the assignment (join_watch.h).
  virtual bool join_under_way() const = 0;
  /// The client will not take part in any further rebalance, and delays those of the group (join_watch.h).
  virtual bool must_be_renewed() const = 0;
  /// Why the client can neither commit nor close (a fenced static member).
  virtual std::optional<Error> fatal_error() const = 0;

  /// Opens the partition's own queue. Must be called before assign(). `on_ready` runs on a client thread.
  /// Earlier answers about the partition's log are forgotten: the topic may have been made anew since.
  virtual std::unique_ptr<PartitionQueue> open_queue(const TopicPartition& partition,
                                                     std::function<void()> on_ready) = 0;
  /// Answers Assigned. A partition with no_offset begins where auto.offset.reset says.
  virtual Status assign(const std::vector<CommittedOffset>& from) = 0;
  /// Answers Revoked. The queues of the partitions must be destroyed before.
  virtual Status unassign(const std::vector<TopicPartition>& partitions, bool all) = 0;
  /// Whether a partition without a committed offset begins at the end of its log (auto.offset.reset). The
  /// client does not know that: it would begin a partition with unread_offset at the start of its log.
  virtual bool begins_at_end() const = 0;
  /// The partitions that are assigned to the client; nullopt if the client cannot return them.
  virtual std::optional<std::vector<TopicPartition>> assignment() const = 0;

  /// Requests committed offsets and metadata. The answer is the event Committed.
  virtual void request_committed(std::uint64_t request, std::vector<TopicPartition> partitions,
                                 Duration timeout) = 0;
  /// This member in its current state, for offsets that a transaction commits for the member.
  virtual GroupMember group_member() const = 0;
  /// Commits. The answer is the event CommitResult, with the same number.
  virtual Status commit(std::uint64_t request, const std::vector<CommittedOffset>& offsets) = 0;

  /// Stops fetching. Records that were fetched and not popped are discarded.
  virtual Status pause(const TopicPartition& partition) = 0;
  /// Continues from `offset`, without the second that a plain resume waits.
  virtual Status resume(const TopicPartition& partition, std::int64_t offset) = 0;
  /// Continues from `offset`. Records that were fetched and not popped are discarded.
  virtual Status seek(const TopicPartition& partition, std::int64_t offset) = 0;
  /// Wakes the client's thread for the partition's leader if the thread sleeps on a full buffer. Cheap to
  /// call: at most one request is under way.
  virtual void wake_leader(const TopicPartition& partition) = 0;

  /// The log's bounds according to the last fetch.
  virtual LogBounds fetched_bounds(const TopicPartition& partition) const = 0;
  /// Requests the log's bounds, for partitions that are not fetched and for fetches that may be wrong.
  /// log_answer() returns the result. `find_leader`: see inquiries.h.
  virtual void ask_log(const TopicPartition& partition, bool find_leader) = 0;
  virtual LogAnswer log_answer(const TopicPartition& partition) const = 0;

  /// Leaves the group. A Revoked event may still come and must be answered. Then closed() returns true.
  virtual Status begin_close() = 0;
  virtual bool closed() const = 0;
};

}  // namespace laneway::kafka
