// What can wait for ever, and what a client that has failed refuses.
#include <thread>

#include "facts.h"

namespace client_facts {
namespace {

constexpr auto patience = seconds(15);

std::string figure(std::optional<milliseconds> time) {
  return time ? text("back after %lld ms", static_cast<long long>(time->count())) : "not back after 15 s";
}

/// A member of a group on a mock cluster; its partition is assigned by hand.
struct CommittingReader {
  CommittingReader() {
    mock.create(mock_topic);
    fill(mock.bootstrap(), mock_topic, 0, 1000);
    client = consumer(mock.bootstrap());
    queue = read_from_start(client, mock_topic);
    if (!next_record(queue, seconds(30))) give_up("no record came");
    if (rd_kafka_commit(client, one(mock_topic, 0, 1).get(), 0) != RD_KAFKA_RESP_ERR_NO_ERROR)
      give_up("a commit fails");
  }
  Mock mock;
  rd_kafka_t* client = nullptr;
  rd_kafka_queue_t* queue = nullptr;
};

Seen commit_waits() {
  CommittingReader member;
  rd_kafka_mock_broker_set_down(member.mock.cluster(), 1);
  const auto offset = one(mock_topic, 0, 2);
  const auto time = time_of([&] { (void)rd_kafka_commit(member.client, offset.get(), 0); }, patience);
  return {!time, figure(time)};
}

Seen close_waits() {
  CommittingReader member;
  rd_kafka_mock_broker_set_rtt(member.mock.cluster(), 1, 600000);
  rd_kafka_queue_t* answers = rd_kafka_queue_new(member.client);
  (void)rd_kafka_commit_queue(member.client, one(mock_topic, 0, 2).get(), answers, nullptr, nullptr);
  const auto time = time_of([&] { (void)rd_kafka_consumer_close(member.client); }, patience);
  return {!time, figure(time)};
}

Seen close_queue_does_not_wait() {
  CommittingReader member;
  rd_kafka_mock_broker_set_rtt(member.mock.cluster(), 1, 600000);
  rd_kafka_queue_t* answers = rd_kafka_queue_new(member.client);
  (void)rd_kafka_commit_queue(member.client, one(mock_topic, 0, 2).get(), answers, nullptr, nullptr);
  const auto time = time_of([&] { (void)rd_kafka_consumer_close_queue(member.client, answers); }, patience);
  return {time.has_value(), figure(time)};
}

Seen held_message_keeps_client() {
  CommittingReader member;
  auto* held = rd_kafka_consume_queue(member.queue, 30000);
  if (held == nullptr) give_up("no record came");
  rd_kafka_queue_destroy(member.queue);
  rd_kafka_consumer_close(member.client);
  const auto time = time_of([&] { rd_kafka_destroy(member.client); }, patience);
  return {!time, figure(time)};
}

Seen fenced_member_cannot_close() {
  const Mock mock;
  mock.create(mock_topic);
  rd_kafka_t* client =
      consumer(mock.bootstrap(), {{"group.instance.id", "one"}, {"heartbeat.interval.ms", "200"}});
  const auto topics = one(mock_topic, RD_KAFKA_PARTITION_UA);
  rd_kafka_subscribe(client, topics.get());
  const auto assigned = [&] {
    serve(client, milliseconds(50));
    rd_kafka_topic_partition_list_t* list = nullptr;
    const bool any = rd_kafka_assignment(client, &list) == RD_KAFKA_RESP_ERR_NO_ERROR && list->cnt > 0;
    if (list != nullptr) rd_kafka_topic_partition_list_destroy(list);
    return any;
  };
  wait_for("the member has its partition", assigned);
  mock.fail_next(heartbeat, RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID);
  char words[256];
  wait_for("the member is fenced",
           [&] { return rd_kafka_fatal_error(client, words, sizeof words) != RD_KAFKA_RESP_ERR_NO_ERROR; });
  auto* answers = rd_kafka_queue_new(client);
  const auto commit = rd_kafka_commit_queue(client, one(mock_topic, 0, 1).get(), answers, nullptr, nullptr);
  auto* error = rd_kafka_consumer_close_queue(client, answers);
  const auto close = error == nullptr ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_error_code(error);
  return {close != RD_KAFKA_RESP_ERR_NO_ERROR,
          text("commit: %s, close: %s", rd_kafka_err2name(commit), rd_kafka_err2name(close))};
}

Seen deleted_topic_keeps_client() {
  const auto name = create_topic(1);
  fill(kafka_bootstrap(), name, 0, 100);
  rd_kafka_t* client =
      consumer(kafka_bootstrap(), {{"topic.metadata.refresh.interval.ms", "500"}, {"group.id", name}});
  rd_kafka_queue_t* queue = read_from_start(client, name);
  if (!next_record(queue, seconds(30))) give_up("no record came");
  delete_topic(name);
  std::this_thread::sleep_for(seconds(5));  // several refreshes and fetches
  rd_kafka_queue_destroy(queue);
  rd_kafka_assign(client, nullptr);
  rd_kafka_consumer_close(client);
  const auto time = time_of([&] { rd_kafka_destroy(client); }, patience);
  return {!time, figure(time)};
}

}  // namespace

const std::vector<Fact> ending_facts = {
    {"13", on_mock, "A commit that waits for its answer has no time-out while the coordinator is away.",
     "lib/kafka/group/consumer.cpp", commit_waits},
    {"13-close", on_mock, "`rd_kafka_consumer_close` waits for a coordinator that does not answer.",
     "lib/kafka/group/consumer.cpp", close_waits},
    {"13-queue", on_mock, "`rd_kafka_consumer_close_queue` does not wait for the coordinator.",
     "lib/kafka/group/consumer.cpp", close_queue_does_not_wait},
    {"13-held", on_mock, "A client is not freed while one of its records is held.",
     "lib/lane/member/group_leave.cpp", held_message_keeps_client},
    {"13-deleted", on_kafka, "A client that has read from a deleted topic is not freed.",
     "lib/lane/member/consumer_loop.cpp", deleted_topic_keeps_client},
    {"21", on_mock, "A static member that was fenced may not close.", "lib/lane/member/group_leave.cpp",
     fenced_member_cannot_close},
};

}  // namespace client_facts
