// What the queues of partitions do.
#include <ctime>

#include <algorithm>
#include <atomic>

#include "facts.h"

namespace client_facts {
namespace {

/// Records that the consumer's own queue gives out.
int from_main_queue(rd_kafka_t* client, milliseconds limit) {
  int records = 0;
  for (const auto begin = Clock::now(); since(begin) < limit;)
    if (auto* message = rd_kafka_consumer_poll(client, 10)) {
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) ++records;
      rd_kafka_message_destroy(message);
    }
  return records;
}

int slipped(const Mock& mock, bool early) {
  rd_kafka_t* client = consumer(mock.bootstrap());
  if (early) (void)own_queue(client, mock_topic, 0);
  rd_kafka_assign(client, one(mock_topic, 0, RD_KAFKA_OFFSET_BEGINNING).get());
  auto* main = rd_kafka_queue_get_consumer(client);
  auto* own = early ? rd_kafka_queue_get_partition(client, mock_topic, 0) : main;
  wait_for("all is fetched", [&] { return rd_kafka_queue_length(own) >= 1000; });
  if (!early) (void)own_queue(client, mock_topic, 0);
  return from_main_queue(client, seconds(1));
}

Seen late_unforward_slips() {
  const Mock mock;
  mock.create(mock_topic);
  fill(mock.bootstrap(), mock_topic, 0, 1000);
  const int late = slipped(mock, false);
  const int early = slipped(mock, true);
  return {
      late > 0 && early == 0,
      text("%d of 1000 records in the main queue; %d when it was done before the assignment", late, early)};
}

Seen unforwarded_stays() {
  const Mock mock;
  mock.create(mock_topic);
  fill(mock.bootstrap(), mock_topic, 0, 1000);
  rd_kafka_t* client = consumer(mock.bootstrap());
  rd_kafka_queue_t* queue = read_from_start(client, mock_topic);
  if (!next_record(queue, seconds(30))) give_up("no record came");
  rd_kafka_queue_destroy(queue);
  rd_kafka_assign(client, nullptr);
  rd_kafka_assign(client, one(mock_topic, 0, RD_KAFKA_OFFSET_BEGINNING).get());
  const int records = from_main_queue(client, seconds(4));
  return {records == 0, text("%d of 1000 records in 4 s after the second assignment", records)};
}

void count_call(rd_kafka_t*, void* calls) { ++*static_cast<std::atomic<int>*>(calls); }

Seen wakes_once() {
  const Mock mock;
  mock.create(mock_topic);
  fill(mock.bootstrap(), mock_topic, 0, 5000, 100);
  std::atomic<int> calls{0};
  rd_kafka_t* client = consumer(mock.bootstrap());
  rd_kafka_queue_t* queue = own_queue(client, mock_topic, 0);
  rd_kafka_queue_cb_event_enable(queue, count_call, &calls);
  rd_kafka_assign(client, one(mock_topic, 0, RD_KAFKA_OFFSET_BEGINNING).get());
  wait_for("all is fetched", [&] { return rd_kafka_queue_length(queue) >= 5000; });
  const int first = calls;
  (void)next_record(queue, seconds(30));
  fill(mock.bootstrap(), mock_topic, 0, 500, 100);
  wait_for("more is fetched", [&] { return rd_kafka_queue_length(queue) >= 5499; });
  return {
      first == 1 && calls == 1,
      text("%d calls for 5000 records in 50 batches, %d more after one was popped", first, calls - first)};
}

Seen old_handle_takes_wakeup() {
  const Mock mock;
  mock.create(mock_topic);
  std::atomic<int> calls_of_old{0};
  std::atomic<int> calls_of_new{0};
  rd_kafka_t* client = consumer(mock.bootstrap());
  rd_kafka_queue_t* old_handle = own_queue(client, mock_topic, 0);
  rd_kafka_queue_cb_event_enable(old_handle, count_call, &calls_of_old);
  rd_kafka_queue_t* new_handle = own_queue(client, mock_topic, 0);
  rd_kafka_queue_cb_event_enable(new_handle, count_call, &calls_of_new);
  rd_kafka_queue_cb_event_enable(old_handle, nullptr, nullptr);
  rd_kafka_queue_destroy(old_handle);
  rd_kafka_assign(client, one(mock_topic, 0, RD_KAFKA_OFFSET_BEGINNING).get());
  fill(mock.bootstrap(), mock_topic, 0, 1000);
  wait_for("all is fetched", [&] { return rd_kafka_queue_length(new_handle) >= 1000; });
  return {calls_of_new == 0, text("%d calls of the new handle for 1000 records", calls_of_new.load())};
}

/// The cheaper way to read, in processor time: each record through the main queue, or popped from its own.
double processor_time(const std::string& topic_name, int records, bool own) {
  rd_kafka_t* client = consumer(kafka_bootstrap(), {{"check.crcs", "false"}});
  std::vector<rd_kafka_queue_t*> queues;
  const List all(rd_kafka_topic_partition_list_new(4));
  for (int partition = 0; partition < 4; ++partition) {
    rd_kafka_topic_partition_list_add(all.get(), topic_name.c_str(), partition)->offset =
        RD_KAFKA_OFFSET_BEGINNING;
    if (own) queues.push_back(own_queue(client, topic_name, partition));
  }
  rd_kafka_assign(client, all.get());
  timespec begin{};
  int popped = 0;
  const auto count = [&](rd_kafka_message_t* message) {
    if (message == nullptr) return false;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR && popped++ == 0)
      ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    rd_kafka_message_destroy(message);
    return true;
  };
  for (const auto start = Clock::now(); popped < records && since(start) < seconds(60);) {
    bool any = count(rd_kafka_consumer_poll(client, 0));
    for (auto* queue : queues)
      for (int i = 0; i < 256 && count(rd_kafka_consume_queue(queue, 0)); ++i) any = true;
    if (!any) (void)count(rd_kafka_consumer_poll(client, 1));
  }
  timespec end{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
  if (popped < records) give_up("not all records came");
  rd_kafka_assign(client, nullptr);
  for (auto* queue : queues) rd_kafka_queue_destroy(queue);
  rd_kafka_consumer_close(client);
  rd_kafka_destroy(client);
  return (static_cast<double>(end.tv_sec - begin.tv_sec) * 1e6 +
          static_cast<double>(end.tv_nsec - begin.tv_nsec) / 1e3) /
         records;
}

Seen own_queues_are_cheaper() {
  constexpr int partitions = 4;
  constexpr int each = 100000;
  const auto name = create_topic(partitions);
  for (int partition = 0; partition < partitions; ++partition)
    fill(kafka_bootstrap(), name, partition, each, 5000);
  double polls = 1e9;
  double own = 1e9;
  for (int round = 0; round < 3; ++round) {  // in turns, and the best of each: the machine has other work
    polls = std::min(polls, processor_time(name, partitions * each, false));
    own = std::min(own, processor_time(name, partitions * each, true));
  }
  return {own < polls * 1.1, text("%.2f us a record by polls, %.2f by single pops", polls, own)};
}

}  // namespace

const std::vector<Fact> queue_facts = {
    {"9", on_mock,
     "A queue that is taken out of the main queue after the assignment leaves records in the main queue.",
     "lib/kafka/group/partition_queue.h", late_unforward_slips},
    {"9-stays", on_mock,
     "Such a queue stays out in the next assignment: without a reader the partition stands still.",
     "lib/kafka/group/partition_queue.cpp", unforwarded_stays},
    {"10", on_mock,
     "All handles of a partition share one wake-up: ending the old handle's ends the new handle's.",
     "lib/lane/source/partition_source.h", old_handle_takes_wakeup},
    {"11", on_mock, "The wake-up comes only when an empty queue gets a record.",
     "lib/lane/member/member_lanes.cpp", wakes_once},
    {"30", on_kafka, "Single pops from the partitions' own queues cost no more than polls.",
     "lib/kafka/group/partition_queue.cpp", own_queues_are_cheaper},
};

}  // namespace client_facts
