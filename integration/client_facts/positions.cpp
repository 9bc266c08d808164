// Where the client goes on reading, and what it leaves out.
#include <thread>

#include "facts.h"

namespace client_facts {
namespace {

/// A reader at offset `records` of a log with `left` records more.
struct AtOffset {
  AtOffset(std::int64_t records, int left, const Settings& settings) {
    mock.create(mock_topic);
    fill(mock.bootstrap(), mock_topic, 0, static_cast<int>(records), 10);
    client = consumer(mock.bootstrap(), settings);
    queue = read_from_start(client, mock_topic);
    while (position < records) {
      serve(client);
      const auto offset = next_record(queue, seconds(30));
      if (!offset) give_up("no record came");
      position = *offset + 1;
    }
    if (left == 0) return;
    rd_kafka_pause_partitions(client, one(mock_topic, 0).get());
    fill(mock.bootstrap(), mock_topic, 0, left, 10);
  }
  /// The broker answers that the offset of the next fetch is not in its log.
  void out_of_range() { mock.fail_next(fetch, RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE); }
  void resume() { rd_kafka_resume_partitions(client, one(mock_topic, 0).get()); }

  Mock mock;
  rd_kafka_t* client = nullptr;
  rd_kafka_queue_t* queue = nullptr;
  std::int64_t position = 0;
};

Seen goes_back() {
  AtOffset reader(100, 0, {});
  std::optional<std::int64_t> offset;
  for (const auto begin = Clock::now(); !offset && since(begin) < seconds(30);) {
    reader.out_of_range();  // again, where it met a fetch whose answer the client did not want any more
    offset = next_record(reader.queue, seconds(3));
  }
  return {offset == 0,
          offset ? text("offset %lld after 99", static_cast<long long>(*offset)) : "nothing came for 30 s"};
}

Seen latest_skips() {
  AtOffset reader(10, 90, {{"auto.offset.reset", "latest"}});
  reader.out_of_range();
  reader.resume();
  const auto begin = Clock::now();
  std::optional<Popped> popped;
  while (!popped && since(begin) < seconds(30)) popped = pop(reader.queue, milliseconds(10));
  if (!popped) return {false, "nothing came for 30 s"};
  return {popped->offset == 100,
          text("goes on at %lld, the next was 10", static_cast<long long>(popped->offset))};
}

Seen reset_error_stops() {
  AtOffset reader(100, 0, {{"auto.offset.reset", "error"}});
  wait_for("the error is there", [&] {
    reader.out_of_range();  // again, as in goes_back
    for (const auto begin = Clock::now(); since(begin) < seconds(3);) {
      const auto popped = pop(reader.queue, milliseconds(10));
      if (popped && popped->error != RD_KAFKA_RESP_ERR_NO_ERROR &&
          popped->error != RD_KAFKA_RESP_ERR__PARTITION_EOF)
        return true;
    }
    return false;
  });
  auto* error = rd_kafka_seek_partitions(reader.client, one(mock_topic, 0, 50).get(), 0);
  auto list = one(mock_topic, 0, 50);
  auto* waited = rd_kafka_seek_partitions(reader.client, list.get(), 5000);
  const auto code = waited != nullptr ? rd_kafka_error_code(waited) : list->elems[0].err;
  const auto offset = next_record(reader.queue, seconds(5));
  return {error == nullptr && !offset, text("the seek answers %s, %s", rd_kafka_err2name(code),
                                            offset ? "and records come" : "and nothing comes for 5 s")};
}

/// Ten records in a transaction, of which only the marker follows.
void produce_transaction(const std::string& name, bool commits) {
  rd_kafka_t* client = producer(kafka_bootstrap(), {{"transactional.id", name}});
  const auto check = [](rd_kafka_error_t* error) {
    if (error != nullptr) give_up(rd_kafka_error_string(error));
  };
  check(rd_kafka_init_transactions(client, 60000));
  check(rd_kafka_begin_transaction(client));
  for (int i = 0; i < 10; ++i)
    (void)rd_kafka_producev(client, RD_KAFKA_V_TOPIC(name.c_str()), RD_KAFKA_V_PARTITION(0), RD_KAFKA_V_END);
  if (rd_kafka_flush(client, 60000) != RD_KAFKA_RESP_ERR_NO_ERROR) give_up("records were not acknowledged");
  check(commits ? rd_kafka_commit_transaction(client, 60000) : rd_kafka_abort_transaction(client, 60000));
  rd_kafka_destroy(client);
}

Seen end_is_behind_markers() {
  const auto name = create_topic(1);
  produce_transaction(name, false);
  produce_transaction(name, true);
  rd_kafka_t* client = consumer(kafka_bootstrap(), {{"isolation.level", "read_committed"}});
  rd_kafka_queue_t* queue = read_from_start(client, name);
  std::int64_t first = -1;
  std::int64_t last = -1;
  std::int64_t end = -1;
  wait_for("the end of the partition", [&] {
    const auto popped = pop(queue, milliseconds(10));
    if (!popped) return false;
    if (popped->error == RD_KAFKA_RESP_ERR__PARTITION_EOF) end = popped->offset;
    if (popped->error == RD_KAFKA_RESP_ERR_NO_ERROR) last = popped->offset;
    if (first < 0) first = last;
    return end >= 22;
  });
  return {first == 11 && last == 20 && end == 22,
          text("records %lld to %lld, end at %lld, of 0-9 aborted and 11-20 committed",
               static_cast<long long>(first), static_cast<long long>(last), static_cast<long long>(end))};
}

Seen retention_is_silent() {
  const auto name = create_topic(1);
  fill(kafka_bootstrap(), name, 0, 100, 10);
  rd_kafka_t* client = consumer(kafka_bootstrap(), {{"queued.min.messages", "1"}});
  rd_kafka_queue_t* queue = read_from_start(client, name);
  if (!next_record(queue, seconds(30))) give_up("no record came");
  rd_kafka_pause_partitions(client, one(name, 0).get());
  delete_records(name, 50);
  rd_kafka_resume_partitions(client, one(name, 0).get());
  (void)rd_kafka_seek_partitions(client, one(name, 0, 1).get(), 0);
  const auto offset = next_record(queue, seconds(30));
  return {offset == 50,
          text("offset %lld after 0, and no error", static_cast<long long>(offset.value_or(-1)))};
}

Seen recreated_goes_back() {
  const auto name = create_topic(1);
  fill(kafka_bootstrap(), name, 0, 100, 10);
  rd_kafka_t* client = consumer(kafka_bootstrap(), {{"topic.metadata.refresh.interval.ms", "500"}});
  rd_kafka_queue_t* queue = read_from_start(client, name);
  for (std::int64_t offset = -1; offset < 99;) {
    const auto next = next_record(queue, seconds(30));
    if (!next) give_up("no record came");
    offset = *next;
  }
  delete_topic(name);
  wait_for("the topic can be created again", [&] { return create_again(name); });
  fill(kafka_bootstrap(), name, 0, 10, 10);
  const auto begin = Clock::now();
  std::optional<std::int64_t> offset;
  while (!offset && since(begin) < seconds(60)) {
    serve(client);
    offset = next_record(queue, milliseconds(100));
  }
  return {offset == 0,
          offset ? text("offset %lld after 99", static_cast<long long>(*offset)) : "nothing came for 60 s"};
}

}  // namespace

const std::vector<Fact> position_facts = {
    {"16", on_kafka, "Transactions leave gaps, and the end of a partition is reported behind them.",
     "lib/lane/intake/intake.cpp", end_is_behind_markers},
    {"17", on_kafka, "After a topic was deleted and created again the client goes back to its start.",
     "lib/lane/position/log_position.cpp lib/lane/position/position_judge.h", recreated_goes_back},
    {"18", on_kafka, "Records that retention deleted are left out, without an error.",
     "lib/lane/position/log_position.cpp", retention_is_silent},
    {"33", on_mock,
     "When a broker answers that the offset is not in its log, the client goes back to the start.",
     "lib/lane/position/position_judge.h", goes_back},
    {"33-error", on_mock,
     "With `auto.offset.reset: error` the partition then stands still, and no seek helps.",
     "lib/kafka/group/consumer.h", reset_error_stops},
    {"42", on_mock,
     "With `auto.offset.reset: latest` the client then leaves out records that are still in the log.",
     "lib/kafka/group/consumer.h", latest_skips},
};

}  // namespace client_facts
