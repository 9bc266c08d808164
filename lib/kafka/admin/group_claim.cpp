#include "kafka/admin/group_claim.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <optional>
#include <set>

#include "config/client/group_protocol.h"
#include "kafka/client/handle.h"

namespace laneway::kafka {
namespace {

constexpr Duration leave_patience = seconds(5);

}  // namespace

class GroupClaim::Implementation {
 public:
  ~Implementation();
  Status open(const ClientSettings& settings, const std::vector<TopicPartition>& partitions);
  Result<Taken> take(Deadline deadline);
  bool held();
  Status commit(const CommittedOffset& offset, Deadline deadline);

 private:
  enum class State { joining, held, lost, leaving };

  void serve(rd_kafka_event_t& event);
  void judge(std::vector<TopicPartition> given);
  void leave();

  std::string group_;
  std::vector<TopicPartition> wanted_;  // sorted
  State state_ = State::joining;
  bool owes_answer_ = false;    // partitions must be given back
  std::optional<Error> error_;  // an error that waiting does not resolve
  HandlePtr handle_;
  QueuePtr events_;  // the queues are destroyed before the handle
  QueuePtr commits_;
};

Status GroupClaim::Implementation::open(const ClientSettings& settings,
                                        const std::vector<TopicPartition>& partitions) {
  auto conf = make_conf(settings);
  if (!conf) return conf.error();
  group_ = setting_of(settings, "group.id");
  wanted_ = partitions;
  std::sort(wanted_.begin(), wanted_.end());
  set_own(conf->get(), "enable.auto.commit", "false");
  set_own(conf->get(), "enable.auto.offset.store", "false");
  const auto& protocol = config::whole_assignment();
  set_own(conf->get(), protocol.key, protocol.value);
  set_own(conf->get(), "session.timeout.ms", std::to_string(to_ms(forgotten_after)));
  set_own(conf->get(), "heartbeat.interval.ms", "1000");  // the longest delay until another member is noticed
  // the library requires more than the session's time-out
  set_own(conf->get(), "max.poll.interval.ms", "300000");
  rd_kafka_conf_set_events(conf->get(),
                           RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_OFFSET_COMMIT);
  auto made = make_handle(RD_KAFKA_CONSUMER, std::move(conf).value());
  if (!made) return made.error();
  handle_ = std::move(made).value();
  rd_kafka_poll_set_consumer(handle_.get());
  events_.reset(rd_kafka_queue_get_consumer(handle_.get()));
  commits_.reset(rd_kafka_queue_new(handle_.get()));
  std::set<std::string> topics;
  for (const auto& partition : partitions) topics.insert(partition.topic);
  const ListPtr list(rd_kafka_topic_partition_list_new(static_cast<int>(topics.size())));
  for (const auto& topic : topics)
    rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), RD_KAFKA_PARTITION_UA);
  const auto code = rd_kafka_subscribe(handle_.get(), list.get());
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return client_error(code, "joining the group " + group_);
  return {};
}

GroupClaim::Implementation::~Implementation() {
  if (!handle_) return;
  leave();
  events_.reset();
  commits_.reset();
  // The member has left, or the brokers cannot be reached.
  rd_kafka_destroy_flags(handle_.release(), RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

/// Gives the partitions back, so that a waiting process need not wait until this member is forgotten.
void GroupClaim::Implementation::leave() {
  const auto deadline = Deadline::in(leave_patience);
  state_ = State::leaving;
  const QueuePtr closing(rd_kafka_queue_new(handle_.get()));
  if (const ErrorPtr error{rd_kafka_consumer_close_queue(handle_.get(), closing.get())}) return;
  // If answered earlier, the client would join again; if answered twice, the client may be closed by then,
  // and the call would never return.
  if (owes_answer_) rd_kafka_assign(handle_.get(), nullptr);
  while (rd_kafka_consumer_closed(handle_.get()) == 0 && !deadline.passed())
    if (const EventPtr event{rd_kafka_queue_poll(closing.get(), 50)}) serve(*event);
}

void GroupClaim::Implementation::serve(rd_kafka_event_t& event) {
  const auto code = rd_kafka_event_error(&event);
  if (rd_kafka_event_type(&event) == RD_KAFKA_EVENT_ERROR) {
    if (code == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED) error_ = group_denied(group_);
    if (rd_kafka_event_error_is_fatal(&event) != 0)
      error_ = Error{ErrorKind::fatal, error_text(code, rd_kafka_event_error_string(&event)), ""};
    return;
  }
  if (rd_kafka_event_type(&event) != RD_KAFKA_EVENT_REBALANCE) return;
  if (code != RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
    if (state_ != State::held && state_ != State::lost) {
      rd_kafka_assign(handle_.get(), nullptr);
      return;
    }
    state_ = State::lost;
    owes_answer_ = true;  // until the owner has finished; see leave()
    return;
  }
  const auto* list = rd_kafka_event_topic_partition_list(&event);
  if (state_ == State::joining) judge(list == nullptr ? std::vector<TopicPartition>() : from_list(*list));
  const ListPtr nothing(rd_kafka_topic_partition_list_new(0));
  rd_kafka_assign(handle_.get(), nothing.get());  // stays a member, but fetches nothing
}

/// Handles an assignment while the claim waits for all partitions.
void GroupClaim::Implementation::judge(std::vector<TopicPartition> given) {
  std::sort(given.begin(), given.end());
  if (std::includes(given.begin(), given.end(), wanted_.begin(), wanted_.end()))
    state_ = State::held;
  else if (!std::binary_search(given.begin(), given.end(), wanted_.front()))
    state_ = State::lost;
}

Result<GroupClaim::Taken> GroupClaim::Implementation::take(Deadline deadline) {
  do {
    if (const EventPtr event{rd_kafka_queue_poll(events_.get(), to_ms(deadline.left()))}) serve(*event);
    if (error_) return *error_;
  } while (state_ == State::joining && !deadline.passed());
  if (state_ == State::joining) return Taken::not_yet;
  return state_ == State::held ? Taken::yes : Taken::given_way;
}

bool GroupClaim::Implementation::held() {
  while (const EventPtr event{rd_kafka_queue_poll(events_.get(), 0)}) serve(*event);
  return state_ == State::held;
}

Status GroupClaim::Implementation::commit(const CommittedOffset& offset, Deadline deadline) {
  const auto what = "committing the offset of " + offset.partition.text();
  const ListPtr list = to_list(std::vector<CommittedOffset>{offset});
  while (const EventPtr late{rd_kafka_queue_poll(commits_.get(), 0)}) {
  }
  auto code = rd_kafka_commit_queue(handle_.get(), list.get(), commits_.get(), nullptr, nullptr);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return client_error(code, what);
  const EventPtr event(rd_kafka_queue_poll(commits_.get(), to_ms(deadline.left())));
  if (!event) return client_error(RD_KAFKA_RESP_ERR__TIMED_OUT, what);
  code = rd_kafka_event_error(event.get());
  const auto* answered = rd_kafka_event_topic_partition_list(event.get());
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR && answered != nullptr && answered->cnt == 1)
    code = answered->elems[0].err;
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return client_error(code, what);
  return {};
}

GroupClaim::GroupClaim(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
GroupClaim::~GroupClaim() = default;

Result<std::unique_ptr<GroupClaim>> GroupClaim::open(const ClientSettings& settings,
                                                     const std::vector<TopicPartition>& partitions) {
  auto implementation = std::make_unique<Implementation>();
  if (auto opened = implementation->open(settings, partitions); !opened) return opened.error();
  return std::unique_ptr<GroupClaim>(new GroupClaim(std::move(implementation)));
}

Result<GroupClaim::Taken> GroupClaim::take(Deadline deadline) { return implementation_->take(deadline); }
bool GroupClaim::held() { return implementation_->held(); }
Status GroupClaim::commit(const CommittedOffset& offset, Deadline deadline) {
  return implementation_->commit(offset, deadline);
}

}  // namespace laneway::kafka
