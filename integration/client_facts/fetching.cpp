// What pauses, resumes and full buffers do to fetching.
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "facts.h"

namespace client_facts {
namespace {

/// A mock cluster with one partition of 100-byte records, and a consumer that has it.
struct Reader {
  explicit Reader(int records, const Settings& settings = {}, int batch = 500) {
    mock.create(mock_topic);
    fill(mock.bootstrap(), mock_topic, 0, records, batch);
    client = consumer(mock.bootstrap(), settings);
    queue = read_from_start(client, mock_topic);
  }
  std::int64_t expect_record() {
    serve(client);
    const auto offset = next_record(queue, seconds(30));
    if (!offset) give_up("no record came");
    position = *offset + 1;
    return *offset;
  }
  void pause() { rd_kafka_pause_partitions(client, one(mock_topic, 0).get()); }
  void resume() { rd_kafka_resume_partitions(client, one(mock_topic, 0).get()); }
  /// To the next record that was not popped yet; does not wait.
  void seek_on() {
    if (auto* error = rd_kafka_seek_partitions(client, one(mock_topic, 0, position).get(), 0))
      give_up(rd_kafka_error_string(error));
  }

  /// What the client takes for read; any thread may ask.
  std::int64_t app_position() const {
    const auto list = one(mock_topic, 0);
    (void)rd_kafka_position(client, list.get());
    return list->elems[0].offset;
  }

  Mock mock;
  rd_kafka_t* client = nullptr;
  rd_kafka_queue_t* queue = nullptr;
  std::int64_t position = 0;
};

Seen pause_discards() {
  Reader reader(5000);
  for (int i = 0; i < 10; ++i) (void)reader.expect_record();
  wait_for("1000 records are fetched", [&] { return rd_kafka_queue_length(reader.queue) >= 1000; });
  const auto fetched = rd_kafka_queue_length(reader.queue);
  reader.pause();
  const auto after_pause = next_record(reader.queue, milliseconds(500));
  reader.resume();
  const auto first = reader.expect_record();
  return {!after_pause && first == 10,
          text("%zu were fetched, %s came after the pause; after the resume the next is %lld of 10", fetched,
               after_pause ? "some" : "none", static_cast<long long>(first))};
}

Seen naive_loop_collapses() {
  Reader reader(40000);
  (void)reader.expect_record();
  const auto begin = Clock::now();
  while (since(begin) < seconds(4)) {
    for (int i = 0; i < 500 && next_record(reader.queue, milliseconds(5)); ++i) ++reader.position;
    reader.pause();
    std::this_thread::sleep_for(milliseconds(20));
    reader.resume();
  }
  const auto rate = static_cast<double>(reader.position) * 1000 / static_cast<double>(since(begin).count());
  return {rate < 5000, text("%.0f records/s of 25000 possible", rate)};
}

Seen queue_limits_itself() {
  Reader reader(20000, {{"queued.min.messages", "1000"}});
  std::size_t length = 0;
  for (int still = 0; still < 30; ++still) {  // 3 s: longer than the client sleeps when enough is fetched
    std::this_thread::sleep_for(milliseconds(100));
    if (const auto now = rd_kafka_queue_length(reader.queue); now != length) {
      length = now;
      still = 0;
    }
  }
  return {length >= 1000 && length <= 1501, text("%zu records wait, in batches of 500", length)};
}

/// Median of the time from a resume to the first record, in ms.
long resume_time(bool seek) {
  Reader reader(40000);
  std::vector<long> times;
  for (int round = 0; round < 7; ++round) {
    for (int i = 0; i < 100; ++i) (void)reader.expect_record();
    reader.pause();
    std::this_thread::sleep_for(milliseconds(150 + 30 * round));  // not in step with the thread's sleep
    const auto begin = Clock::now();
    reader.resume();
    if (seek) reader.seek_on();
    if (const auto next = reader.position; reader.expect_record() != next)
      give_up("the wrong record came after a resume");
    times.push_back(since(begin).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

Seen resume_sleeps() {
  const auto median = resume_time(false);
  return {median > 200, text("%ld ms from the resume to the first record", median)};
}

Seen seek_wakes() {
  const auto median = resume_time(true);
  return {median < 100, text("%ld ms from the resume to the first record", median)};
}

/// Records a second through a buffer of 1000.
double small_buffer_rate(const Settings& more, bool ask_leader) {
  Settings settings{{"queued.min.messages", "1000"}};
  settings.insert(more.begin(), more.end());
  Reader reader(40000, settings);
  (void)reader.expect_record();
  std::atomic<bool> stop{false};
  std::thread asks([&] {
    for (; ask_leader && !stop; std::this_thread::sleep_for(milliseconds(2)))
      (void)rd_kafka_offsets_for_times(reader.client, one(mock_topic, 0, RD_KAFKA_OFFSET_END).get(), 1000);
  });
  const auto begin = Clock::now();
  std::int64_t records = 0;
  while (since(begin) < seconds(4) && records < 39000) {
    serve(reader.client);
    for (int i = 0; i < 256 && next_record(reader.queue, milliseconds(0)); ++i) ++records;
  }
  const auto rate = static_cast<double>(records) * 1000 / static_cast<double>(since(begin).count());
  stop = true;
  asks.join();
  return rate;
}

Seen full_buffer_sleeps() {
  const auto rate = small_buffer_rate({}, false);
  return {rate < 15000, text("%.0f records/s", rate)};
}

Seen request_wakes() {
  const auto rate = small_buffer_rate({}, true);
  return {rate > 30000, text("%.0f records/s", rate)};
}

Seen backoff_key_helps() {
  if (const auto reason = refused(rd_kafka_conf_new(), "fetch.queue.backoff.ms", "2"); !reason.empty())
    return {false, reason};
  const auto rate = small_buffer_rate({{"fetch.queue.backoff.ms", "2"}}, false);
  return {rate > 30000, text("%.0f records/s", rate)};
}

/// Records that were left out while another thread paused and resumed.
struct Skipped {
  std::int64_t records;
  std::int64_t skipped;
};

/// Pauses and resumes in the middle of what is being read, until `stop`.
void pause_all_the_time(Reader& reader, const std::atomic<bool>& stop) {
  while (!stop) {
    reader.pause();
    std::this_thread::sleep_for(milliseconds(3));
    const auto before = reader.app_position();
    reader.resume();  // and no seek to where the reader is, which would hide what was left out
    (void)eventually([&] { return stop || reader.app_position() > before + 300; }, milliseconds(1500));
  }
}

Skipped skipped_by_pauses(bool batches) {
  Reader reader(40000, {}, 100);
  rd_kafka_mock_broker_set_rtt(reader.mock.cluster(), 1, 5);  // 100 records each 5 ms: a batch fills slowly
  std::atomic<bool> stop{false};
  std::thread pauses([&] { pause_all_the_time(reader, stop); });
  std::vector<rd_kafka_message_t*> messages(batches ? 20000 : 1);
  Skipped result{0, 0};
  std::int64_t next = 0;
  for (const auto begin = Clock::now(); since(begin) < seconds(12) && next < 39000;) {
    serve(reader.client);
    ssize_t count = 0;
    if (batches)
      count = rd_kafka_consume_batch_queue(reader.queue, 200, messages.data(), messages.size());
    else if (auto* message = rd_kafka_consume_queue(reader.queue, 20))
      messages[static_cast<std::size_t>(count++)] = message;
    for (ssize_t i = 0; i < count; ++i) {
      auto* message = messages[static_cast<std::size_t>(i)];
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        ++result.records;
        result.skipped += std::max<std::int64_t>(0, message->offset - next);
        next = std::max(next, message->offset + 1);
      }
      rd_kafka_message_destroy(message);
    }
  }
  stop = true;
  pauses.join();
  return result;
}

Seen batches_skip() {
  const auto result = skipped_by_pauses(true);
  return {result.skipped > 0, text("%lld skipped beside %lld popped", static_cast<long long>(result.skipped),
                                   static_cast<long long>(result.records))};
}

Seen single_pops_do_not_skip() {
  const auto result = skipped_by_pauses(false);
  return {result.skipped == 0, text("%lld skipped beside %lld popped", static_cast<long long>(result.skipped),
                                    static_cast<long long>(result.records))};
}

Seen resume_of_unpaused_rewinds() {
  Reader reader(20000);
  std::int64_t records = 0;
  std::int64_t again = 0;
  std::int64_t next = 0;
  const auto begin = Clock::now();
  for (auto last = begin; since(begin) < seconds(10) && records < 19000;) {
    serve(reader.client);
    if (since(last) >= milliseconds(50)) {
      last = Clock::now();
      reader.resume();
    }
    for (int i = 0; i < 100; ++i) {
      const auto offset = next_record(reader.queue, milliseconds(0));
      if (!offset) break;
      ++records;
      if (*offset < next) ++again;
      next = std::max(next, *offset + 1);
    }
  }
  return {again > 0, text("%lld of %lld records came again", static_cast<long long>(again),
                          static_cast<long long>(records))};
}

/// Bytes that the allocator has given out.
std::size_t used() {
  const auto memory = mallinfo2();
  return memory.uordblks + memory.hblkhd;
}

Seen kept_record_pins_fetch() {
  constexpr int batch = 5000;
  Reader reader(40000, {}, batch);
  std::vector<rd_kafka_message_t*> kept;
  for (std::int64_t popped = 0; popped < 40000;) {
    auto* message = rd_kafka_consume_queue(reader.queue, 1000);
    if (message == nullptr) continue;
    const bool is_record = message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
    if (is_record && popped++ % batch == 0)
      kept.push_back(message);
    else
      rd_kafka_message_destroy(message);
  }
  const auto before = used();
  for (auto* message : kept) rd_kafka_message_destroy(message);
  const auto pinned =
      (static_cast<long>(before) - static_cast<long>(used())) / static_cast<long>(kept.size());
  return {pinned > 10000, text("%ld bytes for each kept record of 100 bytes", pinned)};
}

Seen pause_outlives_assignment() {
  Reader reader(1000);
  (void)reader.expect_record();
  reader.pause();
  rd_kafka_queue_destroy(reader.queue);
  rd_kafka_assign(reader.client, nullptr);
  reader.queue = read_from_start(reader.client, mock_topic);
  const auto silent = next_record(reader.queue, seconds(5));
  reader.resume();
  const auto resumed = next_record(reader.queue, seconds(30));
  return {!silent && resumed,
          silent ? "records came without a resume" : "nothing came for 5 s, until the resume"};
}

}  // namespace

const std::vector<Fact> fetching_facts = {
    {"1", on_mock,
     "A pause throws away fetched records; the next fetch begins after the last record that was popped.",
     "lib/lane/intake/fetch_pause.h", pause_discards},
    {"2", on_mock, "Pausing at each rejection and resuming costs about a second a cycle.",
     "lib/lane/intake/fetch_pause.h", naive_loop_collapses},
    {"3", on_mock,
     "A partition queue that is not popped takes `queued.min.messages` records and one fetch more.",
     "lib/lane/shared/memory_plan.cpp", queue_limits_itself},
    {"4", on_mock, "`fetch.queue.backoff.ms` bounds the sleep of the broker's thread on a full buffer.",
     "lib/kafka/group/consumer.cpp", backoff_key_helps},
    {"5", on_mock, "The batch call skips records when another thread pauses.",
     "lib/kafka/group/partition_queue.cpp", batches_skip},
    {"5-single", on_mock, "Single pops skip no records when another thread pauses.",
     "lib/kafka/group/partition_queue.cpp", single_pops_do_not_skip},
    {"7", on_mock, "A resume of a partition that is not paused rewinds the partition.",
     "lib/lane/source/partition_source.cpp", resume_of_unpaused_rewinds},
    {"22", on_mock, "A record that is kept keeps its whole batch in memory.", "lib/kafka/record.h",
     kept_record_pins_fetch},
    {"27", on_mock, "After a resume the broker's thread sleeps for up to a second.",
     "lib/kafka/group/consumer.h", resume_sleeps},
    {"27-seek", on_mock, "A seek to the next offset, without waiting, ends that sleep.",
     "lib/kafka/group/consumer.cpp", seek_wakes},
    {"28", on_mock, "With a small buffer the same sleep limits the rate of reading.",
     "lib/kafka/group/consumer.h", full_buffer_sleeps},
    {"28-request", on_mock, "A request to the partition's leader ends that sleep.",
     "lib/kafka/group/inquiries.h", request_wakes},
    {"pause-stays", on_mock, "A pause stays when the partition is given up and assigned again.",
     "lib/lane/source/partition_source.h", pause_outlives_assignment},
};

}  // namespace client_facts
