// A consumer whose group the test plays: the test sends what the group sends to the member, and reads what
// the member requests of its client. The consumer belongs to the loop, the group to the test. Any thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "kafka/group/commit_parts.h"
#include "kafka/group/consumer.h"
#include "lane/member/rebalance_machine.h"

namespace laneway::lane {

class FakeGroup {
 public:
  /// The member's requests to its client, in order.
  using Calls = std::vector<std::string>;
  Calls calls() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return calls_;
  }
  /// The requests of one kind (their first word).
  Calls calls(const std::string& kind) const {
    auto some = calls();
    std::erase_if(some, [&](const std::string& call) { return !call.starts_with(kind); });
    return some;
  }

  void assigns(const Partitions& partitions) { tell(kafka::Assigned{partitions}); }
  void revokes(const Partitions& partitions) { tell(kafka::Revoked{partitions, false}); }
  void loses(const Partitions& partitions) { tell(kafka::Revoked{partitions, true}); }
  void names(std::vector<std::string> topics) { tell(kafka::TopicsFound{std::move(topics), {}}); }
  void reports(kafka::ClientError error) { tell(std::move(error)); }
  void reports(kafka::Statistics statistics) { tell(std::move(statistics)); }
  /// Answers the last question for committed offsets.
  void answers_committed(std::vector<kafka::CommittedOffset> offsets) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    push(kafka::Committed{committed_request_, std::move(offsets), {}, true});
  }
  /// As answers_committed(), with an error for one of the partitions.
  void cannot_read_committed() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    push(kafka::Committed{committed_request_, {}, "broken", true});
  }
  /// Answers the last commit.
  void acknowledges_commit() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    push(kafka::CommitResult{commit_request_, commit_partitions_, {}, {}});
  }
  void refuses_commit(bool passing = false) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    push(kafka::CommitResult{.request = commit_request_,
                             .committed = {},
                             .failed = commit_partitions_,
                             .error = "refused",
                             .passing = passing});
  }
  /// As acknowledges_commit(), for the last commit and all later ones.
  void acknowledges_all() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    acknowledges_all_ = true;
    push(kafka::CommitResult{commit_request_, commit_partitions_, {}, {}});
  }

  /// As brokers whose topic of offsets takes no larger requests: they acknowledge smaller ones.
  void refuses_commits_above(std::size_t bytes) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    largest_commit_ = bytes;
  }

  void set_cooperative(bool cooperative) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    cooperative_ = cooperative;
  }
  /// The value of auto.offset.reset is `latest`.
  void set_begins_at_end() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    begins_at_end_ = true;
  }
  /// The brokers have admitted the member, without an event.
  void admits_at(std::int32_t epoch) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    epoch_ = epoch;
  }
  /// How often the member has asked for its epoch.
  std::size_t epoch_requests() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return epoch_requests_;
  }
  void set_join_under_way(bool under_way) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    join_under_way_ = under_way;
  }
  /// The client reports this error from now on, without an event.
  void set_fatal(Error error) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    fatal_ = std::move(error);
  }
  /// The client stops reading the partition, although nothing was revoked.
  void forgets(const kafka::TopicPartition& partition) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    assignment_.erase(partition);
  }

  std::unique_ptr<kafka::Consumer> consumer(std::function<void()> on_event);

 private:
  friend class FakeConsumer;

  void tell(kafka::Event event) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    push(std::move(event));
  }
  void push(kafka::Event event) REQUIRES(mutex_) {
    events_.push_back(std::move(event));
    if (on_event_) on_event_();
  }
  void note(std::string call) REQUIRES(mutex_) { calls_.push_back(std::move(call)); }

  mutable Mutex mutex_;
  std::function<void()> on_event_ GUARDED_BY(mutex_);
  std::deque<kafka::Event> events_ GUARDED_BY(mutex_);
  Calls calls_ GUARDED_BY(mutex_);
  std::set<kafka::TopicPartition> assignment_ GUARDED_BY(mutex_);
  std::uint64_t committed_request_ GUARDED_BY(mutex_) = 0;
  std::uint64_t commit_request_ GUARDED_BY(mutex_) = 0;
  Partitions commit_partitions_ GUARDED_BY(mutex_);
  bool acknowledges_all_ GUARDED_BY(mutex_) = false;
  std::optional<std::size_t> largest_commit_ GUARDED_BY(mutex_);
  bool cooperative_ GUARDED_BY(mutex_) = true;
  bool begins_at_end_ GUARDED_BY(mutex_) = false;
  bool join_under_way_ GUARDED_BY(mutex_) = false;
  bool closing_ GUARDED_BY(mutex_) = false;
  std::int32_t epoch_ GUARDED_BY(mutex_) = 0;
  std::size_t epoch_requests_ GUARDED_BY(mutex_) = 0;
  std::optional<Error> fatal_ GUARDED_BY(mutex_);
};

/// The member's side of the group.
class FakeConsumer final : public kafka::Consumer {
 public:
  explicit FakeConsumer(FakeGroup& group) : group_(group) {}
  ~FakeConsumer() override {
    MutexLock lock(group_.mutex_);
    group_.on_event_ = nullptr;
  }

  Status subscribe(const std::vector<std::string>& topics) override {
    MutexLock lock(group_.mutex_);
    std::string call = "subscribe";
    for (const auto& topic : topics) call += ' ' + topic;
    group_.note(call);
    return {};
  }
  void ask_topics() override {
    MutexLock lock(group_.mutex_);
    group_.note("ask topics");
  }
  std::optional<kafka::Event> poll() override {
    MutexLock lock(group_.mutex_);
    if (group_.events_.empty()) return std::nullopt;
    auto event = std::move(group_.events_.front());
    group_.events_.pop_front();
    return event;
  }

  bool incremental() const override {
    MutexLock lock(group_.mutex_);
    return group_.cooperative_;
  }
  bool assignment_lost() const override { return false; }
  bool joining() const override { return join_under_way(); }
  bool join_under_way() const override {
    MutexLock lock(group_.mutex_);
    return group_.join_under_way_;
  }
  std::int32_t member_epoch() const override {
    MutexLock lock(group_.mutex_);
    ++group_.epoch_requests_;
    return group_.epoch_;
  }
  bool must_be_renewed() const override { return false; }
  std::optional<Error> fatal_error() const override {
    MutexLock lock(group_.mutex_);
    return group_.fatal_;
  }

  /// The lanes' records do not come from the client.
  std::unique_ptr<kafka::PartitionQueue> open_queue(const kafka::TopicPartition& /*partition*/,
                                                    std::function<void()> /*on_ready*/) override {
    return nullptr;
  }
  Status assign(const std::vector<kafka::CommittedOffset>& from) override {
    MutexLock lock(group_.mutex_);
    if (!group_.cooperative_) group_.assignment_.clear();
    for (const auto& start : from) group_.assignment_.insert(start.partition);
    group_.note("assign" + text_of(from));
    return {};
  }
  Status unassign(const Partitions& partitions, bool all) override {
    MutexLock lock(group_.mutex_);
    for (const auto& partition : partitions) group_.assignment_.erase(partition);
    if (all) group_.assignment_.clear();
    group_.note(all ? "unassign all" : "unassign" + text_of(partitions));
    return {};
  }
  bool begins_at_end() const override {
    MutexLock lock(group_.mutex_);
    return group_.begins_at_end_;
  }
  std::optional<Partitions> assignment() const override {
    MutexLock lock(group_.mutex_);
    return Partitions(group_.assignment_.begin(), group_.assignment_.end());
  }

  void request_committed(std::uint64_t request, Partitions partitions, Duration /*timeout*/) override {
    MutexLock lock(group_.mutex_);
    group_.committed_request_ = request;
    group_.note("ask" + text_of(partitions));
  }
  kafka::GroupMember group_member() const override { return nullptr; }
  Status commit(std::uint64_t request, const std::vector<kafka::CommittedOffset>& offsets) override {
    MutexLock lock(group_.mutex_);
    group_.commit_request_ = request;
    group_.commit_partitions_.clear();
    for (const auto& offset : offsets) group_.commit_partitions_.push_back(offset.partition);
    group_.note("commit" + text_of(offsets));
    std::size_t bytes = 0;
    for (const auto& offset : offsets) bytes += kafka::stored_bytes(offset, 0);
    if (group_.largest_commit_ && bytes > *group_.largest_commit_)
      group_.push(kafka::CommitResult{.request = request,
                                      .committed = {},
                                      .failed = group_.commit_partitions_,
                                      .error = "Unknown broker error",
                                      .perhaps_too_large = true});
    else if (group_.acknowledges_all_ || group_.largest_commit_)
      group_.push(kafka::CommitResult{request, group_.commit_partitions_, {}, {}});
    return {};
  }

  Status pause(const kafka::TopicPartition& /*partition*/) override { return {}; }
  Status resume(const kafka::TopicPartition& /*partition*/, std::int64_t /*offset*/) override { return {}; }
  Status seek(const kafka::TopicPartition& /*partition*/, std::int64_t /*offset*/) override { return {}; }
  void wake_leader(const kafka::TopicPartition& /*partition*/) override {}
  kafka::LogBounds fetched_bounds(const kafka::TopicPartition& /*partition*/) const override { return {}; }
  void ask_log(const kafka::TopicPartition& /*partition*/, bool /*find_leader*/) override {}
  kafka::LogAnswer log_answer(const kafka::TopicPartition& /*partition*/) const override { return {}; }

  /// As the real consumer, which takes back what is assigned and is then closed.
  Status begin_close() override {
    MutexLock lock(group_.mutex_);
    group_.note("leave");
    group_.closing_ = true;
    if (!group_.assignment_.empty())
      group_.events_.push_back(kafka::Revoked{{group_.assignment_.begin(), group_.assignment_.end()}, false});
    return {};
  }
  bool closed() const override {
    MutexLock lock(group_.mutex_);
    return group_.closing_ && group_.assignment_.empty();
  }

 private:
  static std::string text_of(const Partitions& partitions) {
    std::string text;
    for (const auto& partition : partitions) text += ' ' + partition.text();
    return text;
  }
  static std::string text_of(const std::vector<kafka::CommittedOffset>& offsets) {
    std::string text;
    for (const auto& offset : offsets) text += ' ' + offset.partition.text(offset.offset);
    return text;
  }

  FakeGroup& group_;
};

inline std::unique_ptr<kafka::Consumer> FakeGroup::consumer(std::function<void()> on_event) {
  MutexLock lock(mutex_);
  on_event_ = std::move(on_event);
  return std::make_unique<FakeConsumer>(*this);
}

}  // namespace laneway::lane
