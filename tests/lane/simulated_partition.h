// A partition that a test fills, and a lane's side of it. No client, no thread and no clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lane/source/partition_source.h"

namespace laneway::lane {

/// What a partition holds, how far it has been popped, and the requests to its client.
struct Partition {
  struct Entry {
    kafka::Pop kind = kafka::Pop::record;
    std::int64_t offset = 0;
    std::optional<std::string> key;
    std::size_t bytes = 0;
    std::int64_t timestamp = -1;
  };

  void add(std::int64_t offset, std::optional<std::string> key = {}, std::size_t bytes = 0) {
    log.push_back({kafka::Pop::record, offset, std::move(key), bytes});
  }
  void add_run(std::int64_t begin, std::int64_t end, std::size_t bytes = 0) {
    for (auto offset = begin; offset < end; ++offset) add(offset, {}, bytes);
  }
  void add_end(std::int64_t offset) { log.push_back({kafka::Pop::end_of_partition, offset, {}, 0}); }

  /// The broker's answer to a question for the log's bounds.
  void answers(std::int64_t start, std::int64_t end) { answer = {answer.number + 1, {start, end}, {}}; }
  /// The client goes to the start of another log, or of the log that it takes for another.
  void goes_back() {
    log.clear();
    next = 0;
  }

  void go_to(std::int64_t offset) {
    next = 0;
    while (next < log.size() && log[next].offset < offset) ++next;
    fetched_up_to = everything;
  }

  std::vector<Entry> log;
  std::size_t next = 0;
  static constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();
  std::size_t fetched_up_to = everything;  // of the log
  bool paused = false;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;  // of every record
  std::size_t reported_fetched = 0;
  std::int64_t high_watermark = kafka::no_offset;
  std::int64_t open_transaction = kafka::no_offset;
  std::int64_t log_start = kafka::no_offset;
  int log_questions = 0;
  int doubts = 0;  // questions that first look for the leader
  kafka::LogAnswer answer;
  std::optional<std::string> leader;  // if set, answers each question at once: with this error, or with the
                                      // log's bounds if empty
  std::function<void()> on_pop;       // called once, before the next pop
  std::vector<std::string> calls;
};

/// The lane's side of the partition.
class SimulatedSource final : public PartitionSource {
 public:
  explicit SimulatedSource(Partition& partition) : partition_(partition) {}

  kafka::Pop pop(kafka::Record& record, std::int64_t& offset) override {
    auto& p = partition_;
    if (p.on_pop) std::exchange(p.on_pop, nullptr)();
    if (p.paused || p.next >= std::min(p.log.size(), p.fetched_up_to)) return kafka::Pop::empty;
    const auto& entry = p.log[p.next++];
    offset = entry.offset;
    if (entry.kind != kafka::Pop::record) return entry.kind;
    kafka::RecordData data;
    data.topic = "orders";
    data.partition = 3;
    data.offset = entry.offset;
    data.timestamp = entry.timestamp;
    data.key = entry.key;
    data.value = std::string(entry.bytes, 'x');
    data.headers = partition_.headers;
    record = kafka::Record(data);
    return kafka::Pop::record;
  }
  std::string last_error() const override { return "simulated"; }
  std::size_t fetched() const override { return partition_.reported_fetched; }
  void pause() override {
    partition_.paused = true;
    partition_.calls.emplace_back("pause");
  }
  void resume(std::int64_t next_offset) override {
    partition_.paused = false;
    partition_.go_to(next_offset);
    partition_.calls.push_back("resume at " + std::to_string(next_offset));
  }
  void seek(std::int64_t next_offset) override {
    partition_.go_to(next_offset);
    partition_.calls.push_back("seek to " + std::to_string(next_offset));
  }
  void wake() override { partition_.calls.emplace_back("wake"); }
  kafka::LogBounds log_bounds() const override {
    return {partition_.log_start, partition_.high_watermark, partition_.open_transaction};
  }
  void ask_log(bool find_leader) override {
    ++(find_leader ? partition_.doubts : partition_.log_questions);
    if (!partition_.leader) return;
    partition_.answers(partition_.log_start, partition_.high_watermark);
    partition_.answer.error = *partition_.leader;
  }
  kafka::LogAnswer log_answer() const override { return partition_.answer; }

 private:
  Partition& partition_;
};

}  // namespace laneway::lane
