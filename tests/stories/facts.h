// What witnesses outside the service saw in a story, and the rules that this is judged by. Witnesses: the
// border to the Kafka client (tapped_client.h), the work itself, and whoever wrote the records. The service's
// own reports are no facts, except where the story is about them (readiness, what a stop says).
//
// Any thread. Most rules are judged as the facts come, the others by judge_end().
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "kafka/types.h"
#include "lane/ledger/completion_map.h"
#include "stories/record_id.h"
#include "stories/story.h"

namespace laneway::stories {

using kafka::CommittedOffset;
using kafka::TopicPartition;
using Client = const void*;
/// The number of a copy of a record that a member wrote to a retry or dead-letter topic; 0: the record
/// itself.
using Copy = std::uint64_t;

struct Breach {
  std::string rule;
  std::string sentence;
};

class Facts {
 public:
  explicit Facts(const Story& story, std::string source);

  const Story& story() const { return story_; }
  const std::string& source() const { return source_; }

  // Of whoever writes.
  void written(Id id) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    written_.insert(id);
  }
  /// The user has skipped the record, which is answered by a dead letter.
  void skipped(const TopicPartition& partition, std::int64_t offset) EXCLUDES(mutex_);
  /// `stored`: the service says that the brokers have the suspension.
  void suspended(const std::string& member, const TopicPartition& partition, bool stored) EXCLUDES(mutex_);
  void resumed(const TopicPartition& partition) EXCLUDES(mutex_);
  void allow_workers(std::uint32_t workers) EXCLUDES(mutex_);

  // Of the border to the client.
  void client_is(Client client, const std::string& member) EXCLUDES(mutex_);
  void asks_committed(Client client, const TopicPartition& partition) EXCLUDES(mutex_);
  void assigned(Client client, const std::vector<TopicPartition>& partitions, bool replaces) EXCLUDES(mutex_);
  void unassigned(Client client, const std::optional<std::vector<TopicPartition>>& partitions)
      EXCLUDES(mutex_);
  void taken(const TopicPartition& partition, std::int64_t offset, std::string_view value, Copy copy)
      EXCLUDES(mutex_);
  /// Returns a number for answered().
  std::uint64_t commits(Client client, const std::vector<CommittedOffset>& offsets) EXCLUDES(mutex_);
  void answered(std::uint64_t commit, const std::set<TopicPartition>& refused) EXCLUDES(mutex_);
  struct Writing {
    std::string topic;
    std::int64_t timestamp = 0;  // 0: the time of writing
    std::string_view value;
    Copy of = 0;          // what the member writes on
    bool parked = false;  // the record did not fail
  };
  /// Returns the number of the copy.
  Copy writes(const std::string& member, const Writing& writing) EXCLUDES(mutex_);
  void acknowledged(const std::string& topic, std::string_view value, Copy copy) EXCLUDES(mutex_);

  // Of the work.
  struct Place {
    TopicPartition partition;
    std::int64_t offset = 0;
    auto operator<=>(const Place&) const = default;
  };
  /// `origin` is that of the record, also for a copy. Returns where the copy was read, for ends().
  Place begins(const std::string& member, const Place& origin, const std::string& key, std::string_view value,
               Copy copy) EXCLUDES(mutex_);
  void ends(const std::string& member, const Place& place, const std::string& key, std::string_view value,
            bool done) EXCLUDES(mutex_);

  void breach(const std::string& rule, const std::string& sentence) EXCLUDES(mutex_);
  /// Whether everything that was written is done or given up, and all of it is committed.
  bool complete() const EXCLUDES(mutex_);
  /// The end of the story: what is missing is lost.
  void judge_end() EXCLUDES(mutex_);
  std::vector<Breach> breaches() const EXCLUDES(mutex_);
  /// One line of figures.
  std::string figures() const EXCLUDES(mutex_);

 private:
  using Count = std::uint64_t;
  struct Life {
    std::string member;
    Count asked = 0, begun = 0;
  };
  struct Fate {
    int done = 0;
    int letters = 0;
  };
  struct Writer {
    Place of;  // what it wrote on
    std::string member;
    Count begun = 0;  // its life
    auto operator<=>(const Writer&) const = default;
  };
  struct Sent {
    TopicPartition partition;
    std::string member;
    std::int64_t offset = 0;
    lane::CompletionMap map;
    Count sent = 0, answered = 0;  // answered: 0 until it is acknowledged
    bool covers(std::int64_t o) const { return o < offset || map.contains(o); }
  };
  struct KeyState {
    std::int64_t last = -1;
    bool running = false;
  };
  using Lane = std::pair<std::string, TopicPartition>;  // of a member

  int rank_of(const std::string& topic) const;
  /// With pools, the records of each pool have an order of their own.
  bool ordered() const { return story_.order != config::Order::none && story_.pools == Pools::none; }
  int stages() const { return story_.pools == Pools::stages ? 2 : 1; }
  void note(const std::string& rule, const std::string& sentence) REQUIRES(mutex_);
  static std::string text(Id id) {
    return "record " + std::to_string(id.second) + " of partition " + std::to_string(id.first);
  }
  void judge_range(const TopicPartition& partition, std::int64_t begin, std::int64_t end, const char* how)
      REQUIRES(mutex_);
  void judge_commit(const CommittedOffset& offset, const lane::CompletionMap& map) REQUIRES(mutex_);
  void judge_repetition(const Life& life, const Place& place) REQUIRES(mutex_);
  void judge_order(const std::string& member, const TopicPartition& partition, std::int64_t offset,
                   const std::string& key) REQUIRES(mutex_);
  void judge_copy(Copy copy, Id id, int rank) REQUIRES(mutex_);
  void judge_memory() REQUIRES(mutex_);
  void judge_suspension(const std::string& member, const TopicPartition& partition, std::int64_t offset)
      REQUIRES(mutex_);
  std::optional<Life> life_at(const std::string& member, const TopicPartition& partition) const
      REQUIRES(mutex_);
  Place place_of(Copy copy, const Place& origin) const REQUIRES(mutex_) {
    const auto found = places_.find(copy);
    return found == places_.end() ? origin : found->second;
  }
  void end_life(Client client, const TopicPartition& partition) REQUIRES(mutex_);
  std::int64_t committed(const TopicPartition& partition) const REQUIRES(mutex_);

  const Story story_;
  const std::string source_;
  mutable Mutex mutex_;
  Count now_ GUARDED_BY(mutex_) = 0;
  std::set<Id> written_ GUARDED_BY(mutex_);
  std::map<Id, Fate> fates_ GUARDED_BY(mutex_);
  std::map<Client, std::string> members_ GUARDED_BY(mutex_);
  std::map<std::pair<Client, TopicPartition>, Count> asked_ GUARDED_BY(mutex_);
  std::map<std::pair<Client, TopicPartition>, Life> lives_ GUARDED_BY(mutex_);
  struct Taken {
    Id id;
    Count at = 0;
    std::size_t bytes = 0;
    bool passed_on = false;       // another topic has it, or the same one again
    std::optional<Count> done{};  // in the life that began then
  };
  bool finished(const Taken& taken) REQUIRES(mutex_) {
    return fates_[taken.id].done >= stages() || taken.passed_on;
  }
  std::map<TopicPartition, std::map<std::int64_t, Taken>> taken_ GUARDED_BY(mutex_);
  std::map<Copy, Place> places_ GUARDED_BY(mutex_);
  std::map<Copy, Writer> writers_ GUARDED_BY(mutex_);
  std::map<Writer, std::map<int, int>> passed_on_ GUARDED_BY(mutex_);  // by the rank of the topic
  std::size_t parked_ GUARDED_BY(mutex_) = 0;
  std::map<TopicPartition, std::int64_t> judged_below_ GUARDED_BY(mutex_);
  std::map<TopicPartition, std::vector<Sent>> sent_ GUARDED_BY(mutex_);
  std::map<std::uint64_t, std::vector<TopicPartition>> unanswered_ GUARDED_BY(mutex_);
  std::map<Lane, std::uint32_t> running_ GUARDED_BY(mutex_);
  std::map<std::pair<Lane, std::string>, KeyState> keys_ GUARDED_BY(mutex_);
  struct Suspended {
    std::string by;
    Count since = 0;
    Count stored = 0;  // when it was stored, at the latest by the member's next commit; 0: not yet
  };
  std::map<TopicPartition, Suspended> suspended_ GUARDED_BY(mutex_);
  std::set<Id> skipped_ GUARDED_BY(mutex_);
  std::uint32_t workers_ GUARDED_BY(mutex_);
  int repeated_ GUARDED_BY(mutex_) = 0;
  std::vector<Breach> breaches_ GUARDED_BY(mutex_);
};

}  // namespace laneway::stories
