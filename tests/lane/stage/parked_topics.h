// A topic with its retry topics, and the lanes that consume them, in virtual time and on one thread: the
// handlers answer inside the call. Records are parked with the product's own headers.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "delivery/dead_letter/retry_headers.h"
#include "handler/forward/header_lists.h"
#include "handler/forward/retry_record.h"
#include "lane/support.h"

namespace laneway::lane {

/// Answers each attempt inside the call, as the test decides.
class InstantHandler final : public handler::Handler {
 public:
  using Answer = std::function<handler::Outcome(const handler::Attempt&)>;
  explicit InstantHandler(Answer answer) : answer_(std::move(answer)) {}
  std::string name() const override { return "instant"; }
  bool asynchronous() const override { return true; }
  /// The time of a test passes faster than that of the pool.
  Duration timeout() const override { return std::chrono::hours(24 * 365); }
  void handle(handler::Task task) noexcept override {
    for (std::uint32_t i = 0; i < task.size(); ++i) task.answer(i, answer_(task.attempt(i)));
  }

 private:
  const Answer answer_;
};

/// One partition of each topic, by name.
class ParkedTopics {
 public:
  struct Entry {
    kafka::RecordData data;
    TimePoint written;
  };

  void write(const std::string& topic, kafka::RecordData data, TimePoint now) {
    auto& log = logs_[topic];
    data.topic = topic;
    data.partition = 3;
    data.offset = static_cast<std::int64_t>(log.size());
    data.timestamp = wall_clock_ms();
    data.timestamp_type = kafka::TimestampType::create_time;
    log.push_back({std::move(data), now});
  }
  const std::vector<Entry>& log(const std::string& topic) { return logs_[topic]; }
  /// The record as it is read now: what the headers and the timestamp of a parked record say has grown older
  /// by the virtual time.
  static kafka::RecordData read(const Entry& entry, TimePoint now) {
    auto data = entry.data;
    if (data.topic == "events") return data;
    const auto older = duration_cast<milliseconds>(now - entry.written).count();
    data.timestamp -= older;
    for (auto& [name, value] : data.headers)
      if (name == "laneway-retry-waiting-since") value = std::to_string(std::stoll(*value) - older);
    return data;
  }

 private:
  std::map<std::string, std::vector<Entry>> logs_;
};

class ParkedSource final : public PartitionSource {
 public:
  ParkedSource(ParkedTopics& topics, std::string topic, std::int64_t next, const TimePoint& now)
      : topics_(topics), topic_(std::move(topic)), next_(next), now_(now) {}
  kafka::Pop pop(kafka::Record& record, std::int64_t& offset) override {
    const auto& log = topics_.log(topic_);
    if (paused_ || next_ >= static_cast<std::int64_t>(log.size())) return kafka::Pop::empty;
    offset = next_++;
    record = kafka::Record(topics_.read(log[static_cast<std::size_t>(offset)], now_));
    return kafka::Pop::record;
  }
  std::string last_error() const override { return "simulated"; }
  std::size_t fetched() const override {
    return paused_ ? 0 : topics_.log(topic_).size() - static_cast<std::size_t>(next_);
  }
  void pause() override { paused_ = true; }
  void resume(std::int64_t next_offset) override {
    paused_ = false;
    next_ = next_offset;
  }
  void seek(std::int64_t next_offset) override { next_ = next_offset; }
  void wake() override {}
  kafka::LogBounds log_bounds() const override {
    return {0, static_cast<std::int64_t>(topics_.log(topic_).size()), kafka::no_offset};
  }
  void ask_log(bool) override {}
  kafka::LogAnswer log_answer() const override { return {}; }

 private:
  ParkedTopics& topics_;
  const std::string topic_;
  std::int64_t next_;
  const TimePoint& now_;
  bool paused_ = false;
};

/// An instance that consumes a topic and its retry topics. Set the context and add stages, then start().
class ParkingInstance {
 public:
  explicit ParkingInstance(ParkedTopics& topics, TimePoint& now) : topics_(topics), now_(now) {
    steps_.add("events",
               {{"events-retry-10s", seconds(10)},
                {"events-retry-1m", seconds(60)},
                {"events-retry-10m", seconds(600)}},
               {.failed = false, .parked = true});
    context.retry_steps = &steps_;
    context.parking = &parked_;
    context.lanes.park_after = seconds(10);
    context.lanes.max_incomplete = 10000;
    context.memory.lane_bytes = 4 << 20;
    context.retry.max_crashes = 0;
    context.retry.attempts = 8;
  }
  ~ParkingInstance() { lanes_.clear(); }
  ParkingInstance(const ParkingInstance&) = delete;

  using Commits = std::map<std::string, kafka::CommittedOffset>;
  /// Begins where `commits` say.
  void start(Commits& commits) {
    commits_ = &commits;
    for (const auto* topic : {"events", "events-retry-10s", "events-retry-1m", "events-retry-10m"}) {
      auto& commit = commits.try_emplace(topic, kafka::CommittedOffset{{topic, 3}, 0, {}}).first->second;
      auto lane = std::make_unique<Lane>(context, StoredCommit::read(commit), ++epoch_, [] {});
      lane->start(std::make_unique<ParkedSource>(topics_, topic, commit.offset, now_), now_);
      lanes_[topic] = std::move(lane);
    }
  }
  /// One turn of the loop at this time.
  void turn() {
    for (const auto& [topic, lane] : lanes_) {
      lane->tick(now_);
      while (lane->work(now_)) {
      }
    }
  }
  void commit() {
    for (const auto& [topic, lane] : lanes_) {
      auto candidate = lane->commit_candidate();
      if (!candidate) continue;
      lane->committed(*candidate);
      (*commits_)[topic] = std::move(*candidate);
    }
  }
  /// Drains and commits, as a SIGTERM or a rebalance does.
  void stop() {
    const auto deadline = now_ + seconds(20);
    for (const auto& [topic, lane] : lanes_) lane->begin_drain(now_, deadline);
    while (now_ < deadline && !std::all_of(lanes_.begin(), lanes_.end(),
                                           [](const auto& lane) { return lane.second->drained(); })) {
      now_ += milliseconds(20);
      turn();
    }
    commit();
    for (const auto& [topic, lane] : lanes_) lane->revoke(now_);
    lanes_.clear();
  }
  Lane& lane(const std::string& topic) { return *lanes_.at(topic); }

  LaneContext context;
  bool brokers_refuse = false;  ///< what is written to retry topics

 private:
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
    topics_.write(*attempt.failures->parks_in, std::move(data), now_);
    return handler::Outcome::done();
  }};
  std::map<std::string, std::unique_ptr<Lane>> lanes_;  // last: their workers use the members above
};

}  // namespace laneway::lane
