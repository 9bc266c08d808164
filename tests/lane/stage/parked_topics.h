// A topic with its retry topics, and the lanes that consume them, in virtual time (lane/virtual_clock.h) and
// on one thread: the handlers answer inside the call. Records are parked with the product's own headers.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "delivery/dead_letter/retry_headers.h"
#include "handler/forward/header_lists.h"
#include "handler/forward/retry_record.h"
#include "lane/support.h"
#include "lane/virtual_clock.h"

namespace laneway::lane {

/// Answers each attempt inside the call, as the test decides.
class InstantHandler final : public handler::Handler {
 public:
  using Answer = std::function<handler::Outcome(const handler::Attempt&)>;
  explicit InstantHandler(Answer answer) : answer_(std::move(answer)) {}
  std::string name() const override { return "instant"; }
  bool asynchronous() const override { return true; }
  Duration timeout() const override { return seconds(30); }
  void handle(handler::Task task) noexcept override {
    for (std::uint32_t i = 0; i < task.size(); ++i) task.answer(i, answer_(task.attempt(i)));
  }

 private:
  const Answer answer_;
};

/// How often events came more than once, and how many have not come.
struct Wrong {
  std::size_t twice = 0;
  std::size_t missing = 0;
  bool operator==(const Wrong&) const = default;
};
/// Printed by Catch.
inline std::ostream& operator<<(std::ostream& out, const Wrong& wrong) {
  return out << wrong.twice << " came more than once, " << wrong.missing << " have not come";
}

/// The partitions of the topics. What is below a commit can be forgotten.
class ParkedTopics {
 public:
  struct Log {
    std::deque<kafka::RecordData> entries;
    std::int64_t begin = 0;  ///< offset of the first entry
    std::int64_t end() const { return begin + static_cast<std::int64_t>(entries.size()); }
    std::size_t size() const { return static_cast<std::size_t>(end()); }
    bool empty() const { return end() == 0; }
  };

  void write(const kafka::TopicPartition& to, kafka::RecordData data) {
    auto& log = logs_[to];
    data.topic = to.topic;
    data.partition = to.partition;
    data.offset = log.end();
    data.timestamp = wall_clock_ms();
    data.timestamp_type = kafka::TimestampType::create_time;
    log.entries.push_back(std::move(data));
  }
  const Log& log(const std::string& topic, std::int32_t partition = 0) { return logs_[{topic, partition}]; }
  void forget(const kafka::TopicPartition& partition, std::int64_t below) {
    auto& log = logs_[partition];
    for (; log.begin < below && !log.entries.empty(); ++log.begin) log.entries.pop_front();
  }

 private:
  std::map<kafka::TopicPartition, Log> logs_;
};

class ParkedSource final : public PartitionSource {
 public:
  ParkedSource(ParkedTopics& topics, const kafka::TopicPartition& partition, std::int64_t next)
      : log_(topics.log(partition.topic, partition.partition)), next_(next) {}
  kafka::Pop pop(kafka::Record& record, std::int64_t& offset) override {
    if (paused_ || next_ >= log_.end()) return kafka::Pop::empty;
    if (next_ < log_.begin) throw std::logic_error("a committed record is read again");
    offset = next_++;
    record = kafka::Record(log_.entries[static_cast<std::size_t>(offset - log_.begin)]);
    return kafka::Pop::record;
  }
  std::string last_error() const override { return "simulated"; }
  std::size_t fetched() const override { return paused_ ? 0 : static_cast<std::size_t>(log_.end() - next_); }
  void pause() override { paused_ = true; }
  void resume(std::int64_t next_offset) override {
    paused_ = false;
    next_ = next_offset;
  }
  void seek(std::int64_t next_offset) override { next_ = next_offset; }
  void wake() override {}
  kafka::LogBounds log_bounds() const override { return {log_.begin, log_.end(), kafka::no_offset}; }
  void ask_log(bool) override {}
  kafka::LogAnswer log_answer() const override { return {}; }

 private:
  const ParkedTopics::Log& log_;
  std::int64_t next_;
  bool paused_ = false;
};

/// An instance that consumes a topic and its retry topics, one lane for each partition. Set the context and
/// add stages, then start().
class ParkingInstance {
 public:
  using Delays = std::vector<std::pair<std::string, Duration>>;
  static Delays shipped_delays() {
    return {{"events-retry-10s", seconds(10)},
            {"events-retry-1m", seconds(60)},
            {"events-retry-10m", seconds(600)}};
  }
  explicit ParkingInstance(ParkedTopics& topics, TimePoint& now, const std::string& source = "events",
                           const Delays& delays = shipped_delays())
      : topics_(topics), now_(now) {
    steps_.add(source, delays, {.failed = false, .parked = true});
    context.retry_steps = &steps_;
    context.parking = &parked_;
    context.lanes.park_after = seconds(10);
    context.lanes.max_incomplete = 10000;
    context.memory.lane_bytes = 4 << 20;
    context.retry.max_crashes = 0;
    context.retry.attempts = 8;
  }
  ~ParkingInstance() { end_lanes(); }
  ParkingInstance(const ParkingInstance&) = delete;

  using Commits = std::map<kafka::TopicPartition, kafka::CommittedOffset>;
  /// Begins where `commits` say.
  void start(Commits& commits, std::int32_t partitions = 1) {
    commits_ = &commits;
    for (const auto& [topic, step] : steps_.all())
      for (std::int32_t partition = 0; partition < partitions; ++partition) {
        const kafka::TopicPartition of{topic, partition};
        const auto& commit = commits.try_emplace(of, kafka::CommittedOffset{of, 0, {}}).first->second;
        auto& at = lanes_.emplace(of, Served(topics_.log(topic, partition))).first->second;
        at.lane = std::make_unique<Lane>(context, StoredCommit::read(commit), ++epoch_,
                                         [&signals = *at.signals] { ++signals; });
        at.lane->start(std::make_unique<ParkedSource>(topics_, of, commit.offset), now_);
      }
  }
  /// One turn of the loop at this time: works the lanes that were signalled or have new records, and ticks
  /// those whose time has come.
  void turn() {
    for (auto& [partition, at] : lanes_) {
      if (now_ >= at.next_tick) at.next_tick = at.lane->tick(now_);
      while (std::exchange(at.seen_signals, *at.signals) != *at.signals ||
             std::exchange(at.seen_end, at.log.end()) != at.log.end()) {
        while (at.lane->work(now_)) {
        }
        at.next_tick = std::min(at.next_tick, now_ + milliseconds(50));
      }
    }
  }
  /// To be called once a second.
  void settle() {
    for (const auto& stage : context.stages) {
      stage.downstream->settle(now_);
      if (stage.each != nullptr) stage.each->settle(now_);
    }
  }
  void commit() {
    for (const auto& [partition, at] : lanes_) {
      auto candidate = at.lane->commit_candidate();
      if (!candidate) continue;
      at.lane->committed(*candidate);
      (*commits_)[partition] = std::move(*candidate);
    }
  }
  /// Drains and commits, as a SIGTERM or a rebalance does.
  void stop() {
    const auto deadline = now_ + seconds(20);
    for (auto& [partition, at] : lanes_) at.lane->begin_drain(now_, deadline);
    while (now_ < deadline && !std::all_of(lanes_.begin(), lanes_.end(), [](const auto& served) {
             return served.second.lane->drained();
           })) {
      now_ += milliseconds(20);
      for (auto& [partition, at] : lanes_) {
        at.lane->tick(now_);
        while (at.lane->work(now_)) {
        }
      }
    }
    commit();
    for (const auto& [partition, at] : lanes_) at.lane->revoke(now_);
    lanes_.clear();
  }
  Lane& lane(const std::string& topic, std::int32_t partition = 0) const {
    return *lanes_.at({topic, partition}).lane;
  }
  template <class Action>
  void each_lane(Action action) const {
    for (const auto& [partition, at] : lanes_) action(std::as_const(*at.lane));
  }

  LaneContext context;
  bool brokers_refuse = false;  ///< what is written to retry topics

 protected:
  /// To be called before what a lane uses is destroyed.
  void end_lanes() { lanes_.clear(); }

 private:
  struct Served {
    explicit Served(const ParkedTopics::Log& of) : log(of) {}
    const ParkedTopics::Log& log;
    std::unique_ptr<std::atomic<int>> signals = std::make_unique<std::atomic<int>>(0);
    int seen_signals = -1;
    std::int64_t seen_end = -1;
    TimePoint next_tick{};
    std::unique_ptr<Lane> lane{};
  };

  ParkedTopics& topics_;
  TimePoint& now_;
  delivery::RetrySteps steps_;
  Commits* commits_ = nullptr;
  std::uint64_t epoch_ = 0;
  InstantHandler parked_{[this](const handler::Attempt& attempt) {
    if (brokers_refuse) return handler::Outcome::unavailable("no broker");
    const auto& record = attempt.record.unread();
    kafka::RecordData data;
    data.key = kafka::copy_of(record.raw_key());
    data.value = kafka::copy_of(record.raw_value());
    auto headers = delivery::retry_headers(handler::headers_of(record), handler::retry_origin(attempt));
    for (auto& header : headers) data.headers.emplace_back(header.name, header.value);
    topics_.write({*attempt.failures->parks_in, record.partition()}, std::move(data));
    return handler::Outcome::done();
  }};
  std::map<kafka::TopicPartition, Served> lanes_;  // last: their workers use the members above
};

}  // namespace laneway::lane
