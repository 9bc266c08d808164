// Shared by the service's tests: an embedded cluster with one topic, services whose handler is a function of
// the test, and a history of the handled records. Waiting ends long after a loaded machine would be done.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "catch.h"
#include "eventually.h"
#include "kafka/group/consumer.h"
#include "kafka/produce/producer.h"
#include "mock_cluster.h"
#include "service/service.h"

namespace laneway::service {

using Place = std::pair<std::int32_t, std::int64_t>;  ///< partition and offset

/// The records that the handlers of all services of a test handled.
class History {
 public:
  void started(const handler::Content& record) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    ++started_[{record.partition(), record.offset()}];
  }
  void done(const handler::Content& record) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    ++done_[{record.partition(), record.offset()}];
  }

  /// How often each record was done.
  std::map<Place, int> done() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return done_;
  }
  std::size_t distinct_done() const EXCLUDES(mutex_) { return done().size(); }
  std::uint64_t done_in_all() const {
    std::uint64_t sum = 0;
    for (const auto& [place, times] : done()) sum += static_cast<std::uint64_t>(times);
    return sum;
  }
  int started(const Place& place) const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const auto found = started_.find(place);
    return found == started_.end() ? 0 : found->second;
  }

 private:
  mutable Mutex mutex_;
  std::map<Place, int> started_ GUARDED_BY(mutex_);
  std::map<Place, int> done_ GUARDED_BY(mutex_);
};

/// Releases the threads that wait for it; several may wait.
class Gate {
 public:
  void open() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void wait() EXCLUDES(mutex_) {
    const auto at = SteadyClock::now() + 2 * patience;
    MutexLock lock(mutex_);
    while (!open_ && SteadyClock::now() < at) opened_.wait_until(mutex_, at);
  }

 private:
  Mutex mutex_;
  Condition opened_;
  bool open_ GUARDED_BY(mutex_) = false;
};

using Behaviour = std::function<handler::Outcome(const handler::Attempt&)>;

inline handler::Outcome do_nothing(const handler::Attempt&) { return {}; }

class TestHandler final : public handler::RecordHandler {
 public:
  TestHandler(History& history, Behaviour behaviour, Duration timeout, std::uint32_t most_per_task)
      : history_(history),
        behaviour_(std::move(behaviour)),
        timeout_(timeout),
        most_per_task_(most_per_task) {}
  std::string name() const override { return "test"; }
  Duration timeout() const override { return timeout_; }
  std::uint32_t most_per_task() const override { return most_per_task_; }

 private:
  handler::Outcome handle_record(const handler::Attempt& attempt) override {
    history_.started(attempt.record);
    auto outcome = behaviour_(attempt);
    if (outcome.verdict == handler::Verdict::done) history_.done(attempt.record);
    return outcome;
  }

  History& history_;
  const Behaviour behaviour_;
  const Duration timeout_;
  const std::uint32_t most_per_task_;
};

/// A cluster with the topic "orders".
class World {
 public:
  explicit World(int partitions, int brokers = 1)
      : partitions_(partitions), ends_(static_cast<std::size_t>(partitions)) {
    auto started = kafka::MockCluster::start(brokers);
    REQUIRE(started);
    cluster = std::move(started).value();
    REQUIRE(cluster->create_topic("orders", partitions));
    config.kafka = {{"bootstrap.servers", {cluster->bootstrap(), "", false}},
                    {"group.id", {"orders", "", false}},
                    {"heartbeat.interval.ms", {"300", "", false}},
                    // A member stays in the group, however long a busy machine delays its heartbeats.
                    {"session.timeout.ms", {"60000", "", false}}};
    config.topics = {"orders"};
    config.commit.interval = milliseconds(100);
    config.retry.backoff = milliseconds(20);
  }

  /// For several members, at once or one after the other: the embedded coordinator ends a rebalance one
  /// second before the session, and a group's first rebalance after 3 s, in which members send no heartbeats.
  /// So this is the shortest session.
  void rebalance_soon() { config.kafka["session.timeout.ms"] = {"4000", "", false}; }

  std::unique_ptr<Service> service(Behaviour behaviour = do_nothing) {
    return std::make_unique<Service>(
        config, std::make_unique<TestHandler>(history, std::move(behaviour), timeout, most_per_task),
        advice_after);
  }
  std::unique_ptr<Service> started(Behaviour behaviour = do_nothing) {
    auto made = service(std::move(behaviour));
    REQUIRE(made->start());
    return made;
  }

  /// Writes `records` more records to every partition.
  void produce(int records, const std::string& topic = "orders") {
    auto producer = kafka::Producer::create({.client = kafka::producer_client(config.kafka)});
    REQUIRE(producer);
    for (int i = 0; i < records; ++i)
      for (std::int32_t p = 0; p < partitions_; ++p) {
        const kafka::Outgoing record{.topic = topic, .partition = p, .value = "value"};
        REQUIRE((*producer)->send(record, nullptr).sent == kafka::Sent::accepted);
      }
    REQUIRE((*producer)->flush(Deadline::in(patience)));
    REQUIRE((*producer)->failed() == 0);
    if (topic == "orders")
      for (auto& end : ends_) end += records;
  }
  /// Waits until one more record of every partition is done. Until the client has applied its assignment,
  /// which is a moment after the service is ready, the client ignores a heartbeat that is answered with an
  /// error.
  void read_a_record() {
    const auto done = history.distinct_done() + static_cast<std::size_t>(partitions_);
    produce(1);
    REQUIRE(eventually([&] { return history.distinct_done() == done; }));
  }
  std::size_t produced() const { return static_cast<std::size_t>(partitions_ * ends_.front()); }

  /// The committed offsets of every partition of "orders", as the broker has them.
  std::vector<kafka::CommittedOffset> committed() {
    auto consumer = kafka::Consumer::create(config.kafka, {}, [] {});
    REQUIRE(consumer);
    std::vector<kafka::TopicPartition> all;
    for (std::int32_t p = 0; p < partitions_; ++p) all.push_back({"orders", p});
    (*consumer)->request_committed(1, all, patience);
    std::vector<kafka::CommittedOffset> result;
    REQUIRE(eventually([&] {
      const auto event = (*consumer)->poll();
      if (!event || !std::holds_alternative<kafka::Committed>(*event)) return false;
      result = std::get<kafka::Committed>(*event).offsets;
      return true;
    }));
    consumer->reset();
    return result;
  }
  std::vector<std::int64_t> committed_offsets() {
    std::vector<std::int64_t> result;
    for (const auto& offset : committed()) result.push_back(offset.offset);
    return result;
  }
  const std::vector<std::int64_t>& ends() const { return ends_; }

  /// Whether every record was done exactly once.
  bool each_done_once() const {
    const auto done = history.done();
    if (done.size() != produced()) return false;
    for (const auto& [place, times] : done)
      if (times != 1) return false;
    return true;
  }

  std::unique_ptr<kafka::MockCluster> cluster;
  config::Config config;
  Duration timeout = seconds(30);     // of attempts
  std::uint32_t most_per_task = 256;  // 1: a record that hangs does not hold up the other records of its task
  Duration advice_after = seconds(60);
  History history;

 private:
  const int partitions_;
  std::vector<std::int64_t> ends_;
};

/// Stops the service and waits; nothing may be abandoned, hang or fail.
inline void stop_cleanly(Service& service) {
  service.stop();
  const auto ended = service.wait();
  CHECK(ended.abandoned == 0);
  CHECK_FALSE(ended.stuck);
  CHECK_FALSE(ended.error);
}

/// The codes of the reasons why the service is not ready; empty if it is ready.
inline std::vector<std::string> codes(const Service& service) {
  std::vector<std::string> all;
  for (const auto& reason : service.readiness().reasons) all.emplace_back(name_of(reason.code));
  return all;
}

/// The sum of a metric's samples, or of the samples with this label value.
inline double metric(const Service& service, const std::string& name, const std::string& label_value = {}) {
  double sum = 0;
  for (const auto& family : service.families()) {
    if (family.name != name) continue;
    for (const auto& sample : family.samples)
      if (label_value.empty() || std::any_of(sample.labels.begin(), sample.labels.end(),
                                             [&](const auto& label) { return label.second == label_value; }))
        sum += sample.value;
  }
  return sum;
}

}  // namespace laneway::service
