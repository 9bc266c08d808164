#include "kafka/group/consumer.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <deque>

#include "base/mutex.h"
#include "config/client/group_protocol.h"
#include "kafka/access/client_words.h"
#include "kafka/access/tls_trouble.h"
#include "kafka/client/client_support.h"
#include "kafka/client/handle.h"
#include "kafka/group/commit_result.h"
#include "kafka/group/inquiries.h"
#include "kafka/group/join_watch.h"
#include "kafka/group/membership.h"
#include "kafka/group/statistics.h"
#include "telemetry/log.h"

namespace laneway::kafka {
namespace {

void set_own_keys(const ClientSettings& settings, const FetchLimits& limits, rd_kafka_conf_t* conf) {
  // The end-of-partition event shows how far control records and compaction gaps reach.
  set_own(conf, "enable.partition.eof", "true");
  set_own(conf, "queued.min.messages", std::to_string(limits.queued_min_messages));
  set_own(conf, "queued.max.messages.kbytes", std::to_string(limits.queued_max_kbytes));
  set_own(conf, "fetch.message.max.bytes", std::to_string(limits.fetch_partition_bytes));
  // The library raises fetch.max.bytes to message.max.bytes, which has no other effect on a consumer.
  set_own(conf, "message.max.bytes",
          std::to_string(std::min<std::uint64_t>(limits.fetch_total_bytes, 1000000)));
  set_own(conf, "fetch.max.bytes", std::to_string(limits.fetch_total_bytes));
  set_own(conf, "statistics.interval.ms", std::to_string(limits.statistics_ms));
  set_default(settings, conf, "fetch.wait.max.ms", std::to_string(limits.fetch_wait_ms));
  set_own(conf, "auto.offset.reset", "earliest");  // see consumer.h
  set_default(settings, conf, "client.id", "laneway");
  if (has_queue_backoff(linked_client())) set_default(settings, conf, "fetch.queue.backoff.ms", "2");
}

/// The position at which a group without a committed offset begins.
std::int64_t first_offset(const ClientSettings& settings) {
  const auto reset = setting_of(settings, "auto.offset.reset");
  const bool end = reset == "latest" || reset == "largest" || reset == "end";
  return end ? RD_KAFKA_OFFSET_END : RD_KAFKA_OFFSET_BEGINNING;
}

/// Errors of a partition. All other errors are events.
void on_error(rd_kafka_t*, int code, const char* text, void*) {
  if (!PartitionQueue::take_error(code, text))
    telemetry::log(telemetry::Level::error, error_text(static_cast<rd_kafka_resp_err_t>(code), text),
                   {{"source", "librdkafka"}});
}

bool of_connection(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR__SSL || code == RD_KAFKA_RESP_ERR__TRANSPORT ||
         code == RD_KAFKA_RESP_ERR__RESOLVE || code == RD_KAFKA_RESP_ERR__AUTHENTICATION;
}

class ClientConsumer final : public Consumer {
 public:
  ClientConsumer(std::unique_ptr<JoinWatch> join_watch, HandlePtr handle, const ClientSettings& settings,
                 std::function<void()> on_event)
      : group_(setting_of(settings, "group.id")),
        protocol_(config::group_protocol(settings)),
        leaves_by_request_(config::leaves_by_request(settings)),
        begins_at_(first_offset(settings)),
        asks_to_wake_(!has_queue_backoff(linked_client())),
        reads_committed_(setting_of(settings, "isolation.level") != "read_uncommitted"),
        join_watch_(std::move(join_watch)),
        handle_(std::move(handle)),
        on_event_(std::move(on_event)),
        events_(rd_kafka_queue_get_consumer(handle_.get())),
        commits_(rd_kafka_queue_new(handle_.get())),
        inquiries_(std::make_unique<Inquiries>(handle_.get(),
                                               [this](Event answer) { answered(std::move(answer)); })) {
    for (auto* queue : {events_.get(), commits_.get()}) listen(queue);
  }
  ~ClientConsumer() override {
    inquiries_.reset();
    // For a close that brokers do not end, because they are gone, the client would wait without a deadline.
    const bool close_unended = closing_ && !closed();
    for (auto* queue : {&events_, &commits_, &closing_}) {
      if (*queue) rd_kafka_queue_cb_event_enable(queue->get(), nullptr, nullptr);
      queue->reset();
    }
    if (close_unended) rd_kafka_destroy_flags(handle_.release(), RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    handle_.reset();
  }

  Status subscribe(const std::vector<std::string>& topics) override {
    if (!protocol_.by_brokers) join_watch_->subscribed();
    return to_status(rd_kafka_subscribe(handle_.get(), to_list(topics).get()), "subscribing");
  }
  void ask_topics() override { inquiries_->ask_topics(); }
  std::optional<Event> poll() override EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      if (!answers_.empty()) {
        auto answer = std::move(answers_.front());
        answers_.pop_front();
        return answer;
      }
    }
    for (auto* queue : {closing_.get(), events_.get(), commits_.get()}) {
      if (queue == nullptr) continue;
      while (EventPtr event{rd_kafka_queue_poll(queue, 0)})
        if (auto translated = translate(event.get())) return translated;
    }
    return std::nullopt;
  }
  bool incremental() const override { return protocol_.incremental; }
  bool assignment_lost() const override { return rd_kafka_assignment_lost(handle_.get()) != 0; }
  bool joining() const override { return join_watch_->joining(); }
  bool join_under_way() const override { return join_watch_->under_way(); }
  std::int32_t member_epoch() const override {
    return protocol_.by_brokers ? epoch_of(group_member().get()) : 0;
  }
  bool must_be_renewed() const override { return join_watch_->overtaken(); }
  std::optional<Error> fatal_error() const override {
    char text[512];
    const auto code = rd_kafka_fatal_error(handle_.get(), text, sizeof text);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return std::nullopt;
    if (code == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED) return group_denied(group_);
    return membership_error(protocol_, code, text);
  }
  std::unique_ptr<PartitionQueue> open_queue(const TopicPartition& partition,
                                             std::function<void()> on_ready) override {
    inquiries_->forget_log(partition);
    auto* queue = rd_kafka_queue_get_partition(handle_.get(), partition.topic.c_str(), partition.partition);
    return std::make_unique<PartitionQueue>(queue, std::move(on_ready));
  }
  Status assign(const std::vector<CommittedOffset>& from) override {
    ListPtr list(rd_kafka_topic_partition_list_new(static_cast<int>(from.size())));
    for (const auto& start : from)
      rd_kafka_topic_partition_list_add(list.get(), start.partition.topic.c_str(), start.partition.partition)
          ->offset = start_at(start.offset);
    if (incremental()) {
      if (!protocol_.by_brokers) join_watch_->assigned();
      return to_status(ErrorPtr(rd_kafka_incremental_assign(handle_.get(), list.get())), "assigning");
    }
    return to_status(rd_kafka_assign(handle_.get(), list.get()), "assigning");
  }
  Status unassign(const std::vector<TopicPartition>& partitions, bool all) override {
    if (!protocol_.by_brokers) join_watch_->revoked();
    if (incremental() && !all)
      return to_status(ErrorPtr(rd_kafka_incremental_unassign(handle_.get(), to_list(partitions).get())),
                       "giving partitions back");
    return to_status(rd_kafka_assign(handle_.get(), nullptr), "giving partitions back");
  }
  bool begins_at_end() const override { return begins_at_ == RD_KAFKA_OFFSET_END; }
  std::optional<std::vector<TopicPartition>> assignment() const override {
    rd_kafka_topic_partition_list_t* list = nullptr;
    if (rd_kafka_assignment(handle_.get(), &list) != RD_KAFKA_RESP_ERR_NO_ERROR) return std::nullopt;
    return from_list(*ListPtr(list));
  }
  void request_committed(std::uint64_t request, std::vector<TopicPartition> partitions,
                         Duration timeout) override {
    inquiries_->ask_committed(request, std::move(partitions), timeout);
  }
  GroupMember group_member() const override {
    return {rd_kafka_consumer_group_metadata(handle_.get()), [](rd_kafka_consumer_group_metadata_t* member) {
              if (member != nullptr) rd_kafka_consumer_group_metadata_destroy(member);
            }};
  }
  Status commit(std::uint64_t request, const std::vector<CommittedOffset>& offsets) override {
    // Without a callback, the answer is an event in the queue `commits_`. The number is the event's opaque
    // pointer, which is never dereferenced.
    auto* const number = reinterpret_cast<void*>(static_cast<std::uintptr_t>(request));
    return to_status(
        rd_kafka_commit_queue(handle_.get(), to_list(offsets).get(), commits_.get(), nullptr, number),
        "committing");
  }
  Status pause(const TopicPartition& partition) override {
    const ListPtr list = to_list(std::vector{partition});
    return to_status(rd_kafka_pause_partitions(handle_.get(), list.get()), *list, "pausing");
  }
  Status resume(const TopicPartition& partition, std::int64_t offset) override {
    const ListPtr list = to_list(std::vector{partition});
    auto status = to_status(rd_kafka_resume_partitions(handle_.get(), list.get()), *list, "resuming");
    if (!status || offset < 0) return status;
    return seek(partition, offset);
  }
  Status seek(const TopicPartition& partition, std::int64_t offset) override {
    const ListPtr list = to_list(partition, offset);
    return to_status(ErrorPtr(rd_kafka_seek_partitions(handle_.get(), list.get(), 0)), "seeking");
  }
  void wake_leader(const TopicPartition& partition) override {
    if (asks_to_wake_) inquiries_->ask_log(partition, false);
  }
  LogBounds fetched_bounds(const TopicPartition& partition) const override {
    LogBounds bounds;
    const auto code = rd_kafka_get_watermark_offsets(handle_.get(), partition.topic.c_str(),
                                                     partition.partition, &bounds.start, &bounds.end);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return {};
    const auto open = open_transactions_.find(partition);
    return {std::max(bounds.start, no_offset), std::max(bounds.end, no_offset),
            open == open_transactions_.end() ? no_offset : open->second};
  }
  void ask_log(const TopicPartition& partition, bool find_leader) override {
    inquiries_->ask_log(partition, find_leader);
  }
  LogAnswer log_answer(const TopicPartition& partition) const override {
    return inquiries_->log_answer(partition);
  }
  Status begin_close() override {
    inquiries_->stop();  // so that its requests have ended before the member leaves the group
    // Without partitions, the client's close sends no LeaveGroup under an incremental protocol (librdkafka,
    // at least 2.0.2 to 2.15.1): the group would wait for this member until its session ends.
    if (leaves_by_request_ && incremental() && assignment() == std::vector<TopicPartition>{})
      (void)rd_kafka_unsubscribe(handle_.get());
    closing_.reset(rd_kafka_queue_new(handle_.get()));
    listen(closing_.get());
    return to_status(ErrorPtr(rd_kafka_consumer_close_queue(handle_.get(), closing_.get())),
                     "leaving the group");
  }
  bool closed() const override { return rd_kafka_consumer_closed(handle_.get()) != 0; }

 private:
  void listen(rd_kafka_queue_t* queue) {
    rd_kafka_queue_cb_event_enable(
        queue, [](rd_kafka_t*, void* self) { static_cast<ClientConsumer*>(self)->on_event_(); }, this);
  }
  void answered(Event answer) EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      answers_.push_back(std::move(answer));
    }
    on_event_();
  }
  std::int64_t start_at(std::int64_t offset) const {
    if (offset == unread_offset)
      return RD_KAFKA_OFFSET_INVALID;  // the client replaces this value by the committed offset
    return offset == no_offset ? begins_at_ : offset;
  }
  std::optional<Event> translate(rd_kafka_event_t* event) {
    switch (rd_kafka_event_type(event)) {
      case RD_KAFKA_EVENT_REBALANCE:
        return translate_rebalance(event);
      case RD_KAFKA_EVENT_ERROR:
        return translate_error(event);
      case RD_KAFKA_EVENT_STATS: {
        auto statistics = read_statistics(rd_kafka_event_stats(event));
        if (inquiries_) inquiries_->set_leaders(statistics.leaders);
        if (reads_committed_) open_transactions_ = statistics.open_transactions;
        for (const auto& broker : statistics.brokers) note_connection(broker);
        return statistics;
      }
      case RD_KAFKA_EVENT_OFFSET_COMMIT:
        return read_commit_result(*event, join_watch_->joining());
      case RD_KAFKA_EVENT_FETCH:
        // Skipping the record would lose it behind a later commit.
        return ClientError{true, false, false,
                           "a record came through the group's queue instead of its partition's queue"};
      default:
        return std::nullopt;
    }
  }
  std::optional<Event> translate_rebalance(rd_kafka_event_t* event) {
    const auto* list = rd_kafka_event_topic_partition_list(event);
    auto partitions = list == nullptr ? std::vector<TopicPartition>{} : from_list(*list);
    if (rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
      join_watch_->revocation_ends();
      return Assigned{std::move(partitions)};
    }
    const bool lost = rd_kafka_assignment_lost(handle_.get()) != 0;
    if (!lost) join_watch_->revocation_begins(incremental());
    return Revoked{std::move(partitions), lost};
  }
  std::optional<Event> translate_error(rd_kafka_event_t* event) const {
    const auto code = rd_kafka_event_error(event);
    const bool fatal = rd_kafka_event_error_is_fatal(event) != 0 || code == RD_KAFKA_RESP_ERR__FATAL;
    if (code == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED)
      return ClientError{fatal, true, false, group_denied(group_).text()};
    // Not fatal with the bundled client, which tries again.
    if (instance_held(code))
      return ClientError{fatal, false, false, membership_error(protocol_, code, "").text()};
    const bool connection = of_connection(code);
    const auto text = error_text(code, rd_kafka_event_error_string(event));
    return ClientError{fatal, false, connection, connection ? connection_failure(text, "") : text};
  }

  const std::string group_;
  const config::GroupProtocol& protocol_;
  const bool leaves_by_request_;                              // by LeaveGroup, when it stops
  const std::int64_t begins_at_;                              // for a partition without a committed offset
  const bool asks_to_wake_;                                   // a request wakes a broker's thread
  const bool reads_committed_;                                // no records of transactions that are open
  std::map<TopicPartition, std::int64_t> open_transactions_;  // by the last statistics
  const std::unique_ptr<JoinWatch> join_watch_;               // the handle's threads use it
  HandlePtr handle_;
  const std::function<void()> on_event_;
  QueuePtr events_;
  QueuePtr commits_;
  QueuePtr closing_;  // the source of events once the close has begun
  Mutex mutex_;
  std::deque<Event> answers_ GUARDED_BY(mutex_);
  std::unique_ptr<Inquiries> inquiries_;
};

}  // namespace

Result<std::unique_ptr<Consumer>> Consumer::create(const ClientSettings& settings, const FetchLimits& limits,
                                                   std::function<void()> on_event) {
  auto join_watch = std::make_unique<JoinWatch>();
  auto handle = open_consumer(settings, {}, [&](rd_kafka_conf_t* conf) {
    set_own_keys(settings, limits, conf);
    rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS |
                                       RD_KAFKA_EVENT_OFFSET_COMMIT);
    join_watch->attach(conf);
    rd_kafka_conf_set_error_cb(conf, on_error);
  });
  if (!handle) return handle.error();
  return std::unique_ptr<Consumer>(std::make_unique<ClientConsumer>(
      std::move(join_watch), std::move(handle).value(), settings, std::move(on_event)));
}

}  // namespace laneway::kafka
