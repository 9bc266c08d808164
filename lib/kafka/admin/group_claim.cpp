#include "kafka/admin/group_claim.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>

#include "config/client/group_protocol.h"
#include "kafka/client/handle.h"

namespace laneway::kafka {
namespace {

constexpr Duration leave_patience = seconds(5);

}  // namespace

Result<std::unique_ptr<GroupClaim>> GroupClaim::open(const ClientSettings& settings,
                                                     const std::vector<TopicPartition>& partitions) {
  const auto& protocol = config::whole_assignment();
  auto made = open_consumer(
      settings,
      {{protocol.key, protocol.value},
       {"session.timeout.ms", std::to_string(to_ms(forgotten_after))},
       {"heartbeat.interval.ms", "1000"},    // the longest delay until another member is noticed
       {"max.poll.interval.ms", "300000"}},  // the library requires more than the session's time-out
      [](rd_kafka_conf_t* conf) {
        rd_kafka_conf_set_events(
            conf, RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_OFFSET_COMMIT);
      });
  if (!made) return made.error();
  std::unique_ptr<GroupClaim> claim(
      new GroupClaim(std::move(made).value(), setting_of(settings, "group.id"), partitions));
  if (auto joined = claim->join(); !joined) return joined.error();
  return claim;
}

GroupClaim::GroupClaim(HandlePtr handle, std::string group, std::vector<TopicPartition> partitions)
    : group_(std::move(group)),
      wanted_(std::move(partitions)),
      handle_(std::move(handle)),
      events_(rd_kafka_queue_get_consumer(handle_.get())),
      commits_(rd_kafka_queue_new(handle_.get())) {
  std::sort(wanted_.begin(), wanted_.end());
}

Status GroupClaim::join() {
  std::vector<std::string> topics;
  for (const auto& partition : wanted_)
    if (topics.empty() || topics.back() != partition.topic) topics.push_back(partition.topic);
  return to_status(rd_kafka_subscribe(handle_.get(), to_list(topics).get()), "joining the group " + group_);
}

GroupClaim::~GroupClaim() {
  leave();
  events_.reset();
  commits_.reset();
  // The member has left, or the brokers cannot be reached.
  rd_kafka_destroy_flags(handle_.release(), RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

/// Gives the partitions back, so that a waiting process need not wait until this member is forgotten.
void GroupClaim::leave() {
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

void GroupClaim::serve(rd_kafka_event_t& event) {
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
void GroupClaim::judge(std::vector<TopicPartition> given) {
  std::sort(given.begin(), given.end());
  if (std::includes(given.begin(), given.end(), wanted_.begin(), wanted_.end()))
    state_ = State::held;
  else if (!std::binary_search(given.begin(), given.end(), wanted_.front()))
    state_ = State::lost;
}

Result<GroupClaim::Taken> GroupClaim::take(Deadline deadline) {
  do {
    if (const EventPtr event{rd_kafka_queue_poll(events_.get(), to_ms(deadline.left()))}) serve(*event);
    if (error_) return *error_;
  } while (state_ == State::joining && !deadline.passed());
  if (state_ == State::joining) return Taken::not_yet;
  return state_ == State::held ? Taken::yes : Taken::given_way;
}

bool GroupClaim::held() {
  while (const EventPtr event{rd_kafka_queue_poll(events_.get(), 0)}) serve(*event);
  return state_ == State::held;
}

Status GroupClaim::commit(const CommittedOffset& offset, Deadline deadline) {
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
  return answered == nullptr ? to_status(code, what) : to_status(code, *answered, what);
}

}  // namespace laneway::kafka
