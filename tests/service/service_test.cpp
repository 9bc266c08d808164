// A service's life on an embedded cluster: start, work, stop, restart.
#include "service/service.h"

#include <algorithm>
#include <atomic>

#include "catch.h"
#include "lane/commit/stored_commit.h"
#include "lane/ledger/completion_map.h"
#include "service/process/process_limits.h"
#include "service/support.h"
#include "telemetry/series_cap.h"

using namespace laneway;
using namespace laneway::service;
using handler::Outcome;

namespace {

/// A metric of the whole process.
telemetry::Sample sample(const Service& service, const std::string& name) {
  for (const auto& family : service.families())
    if (family.name == name) return family.samples.at(0);
  FAIL("no metric is called " << name);
  return {};
}

/// The names of the labels of a metric's samples, as in the table; nullopt if there is no sample.
std::optional<std::string> labels_of(const Service& service, std::string_view metric) {
  for (const auto& family : service.families()) {
    if (family.name != metric || family.samples.empty()) continue;
    std::string labels;
    for (const auto& [name, value] : family.samples.front().labels)
      labels += (labels.empty() ? "" : ",") + name;
    return labels;
  }
  return std::nullopt;
}

bool is(const handler::Content& record, std::int32_t partition, std::int64_t offset) {
  return record.partition() == partition && record.offset() == offset;
}

/// One record stays running until its stop is requested; the others are done.
Behaviour all_but(std::int32_t partition, std::int64_t offset) {
  return [=](const handler::Attempt& attempt) {
    if (!is(attempt.record, partition, offset)) return Outcome::done();
    (void)attempt.stop.wait_until(SteadyClock::now() + 2 * patience);
    return Outcome::retry("stopped");
  };
}

/// Keeps its tasks until the test lets it answer.
class Asynchronous final : public handler::Handler {
 public:
  void handle(handler::Task task) noexcept override EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (open_)
      task.answer(0, Outcome::done());
    else
      kept_.push_back(std::move(task));
  }
  bool asynchronous() const override { return true; }
  std::uint32_t most_per_task() const override { return 1; }
  std::string name() const override { return "asynchronous"; }
  void answer_all() EXCLUDES(mutex_) {
    std::vector<handler::Task> kept;
    {
      MutexLock lock(mutex_);
      open_ = true;
      kept.swap(kept_);
    }
    for (auto& task : kept) task.answer(0, Outcome::done());
  }

 private:
  Mutex mutex_;
  bool open_ GUARDED_BY(mutex_) = false;
  std::vector<handler::Task> kept_ GUARDED_BY(mutex_);
};

}  // namespace

TEST_CASE("the metrics show that every slot is busy, with threads and without") {
  World world(1);
  world.rebalance_soon();
  world.config.unnamed.workers = 4;
  world.config.unnamed.queue = 2;
  world.produce(20);
  const auto busy = [](const Service& service) {
    return metric(service, "pool_slots") == 4 && metric(service, "pool_slots_active") == 4 &&
           metric(service, "pool_queue_depth") == 2;
  };
  {
    auto handler = std::make_unique<Asynchronous>();
    auto& keeping = *handler;
    Service service(world.config, std::move(handler));
    REQUIRE(service.start());
    CHECK(eventually([&] { return busy(service); }));
    CHECK(metric(service, "pool_workers") == 0);
    keeping.answer_all();
    CHECK(eventually([&] { return metric(service, "pool_slots_active") == 0; }));
    stop_cleanly(service);
  }
  world.produce(20);
  Gate gate;
  const auto service = world.started([&](const handler::Attempt&) {
    gate.wait();
    return Outcome::done();
  });
  CHECK(eventually([&] { return busy(*service); }));
  gate.open();
  CHECK(eventually([&] { return metric(*service, "pool_slots_active") == 0; }));
  stop_cleanly(*service);
}

TEST_CASE("a service runs every record once, and has committed all when it stops") {
  World world(4, 2);
  world.produce(500);
  const auto service = world.started();
  CHECK(eventually([&] { return world.history.done_in_all() == world.produced(); }));
  CHECK(eventually([&] {
    const auto lanes = service->snapshot();
    return lanes.size() == 4 && std::all_of(lanes.begin(), lanes.end(), [](const LaneView& lane) {
             return lane.state == lane::State::running && lane.lag == 0 && lane.committed == 500 &&
                    lane.done == 500 && lane.delivered == 499 && lane.queued == 0 && lane.in_flight == 0;
           });
  }));
  CHECK(service->live().live);
  stop_cleanly(*service);
  CHECK(world.each_done_once());
  CHECK(world.committed_offsets() == world.ends());
}

TEST_CASE("the drain at a stop commits the finished records, although no commit was due") {
  World world(2);
  world.config.commit.interval = std::chrono::hours(1);
  world.produce(100);
  const auto service = world.started();
  CHECK(eventually([&] { return world.history.done_in_all() == world.produced(); }));
  // The beginning of a life is committed at once, with the records that are done by then.
  CHECK(eventually([&] {
    const auto lanes = service->snapshot();
    return lanes.size() == 2 &&
           std::all_of(lanes.begin(), lanes.end(), [](const LaneView& lane) { return lane.committed >= 0; });
  }));
  const auto first = world.ends();
  world.produce(100);
  CHECK(eventually([&] { return world.history.done_in_all() == world.produced(); }));
  const auto committed = world.committed_offsets();
  for (std::size_t i = 0; i < first.size(); ++i) CHECK(committed[i] <= first[i]);
  stop_cleanly(*service);
  CHECK(world.committed_offsets() == world.ends());
}

TEST_CASE("a restart continues where the last service stopped") {
  World world(2);
  world.rebalance_soon();
  for (int run = 0; run < 2; ++run) {
    world.produce(100);
    const auto service = world.started();
    CHECK(eventually([&] { return world.history.done_in_all() >= world.produced(); }));
    stop_cleanly(*service);
  }
  CHECK(world.each_done_once());
}

TEST_CASE("a restart runs again only the records that are not in the committed map") {
  World world(1);
  world.rebalance_soon();
  world.most_per_task = 1;
  world.config.lanes.drain = milliseconds(100);
  world.produce(50);
  {
    const auto service = world.started(all_but(0, 3));
    CHECK(eventually([&] { return world.history.distinct_done() == 49; }));
    service->stop();
    const auto ended = service->wait();
    CHECK(ended.abandoned == 1);
    CHECK_FALSE(ended.stuck);
  }
  const auto committed = world.committed();
  REQUIRE(committed.size() == 1);
  CHECK(committed.front().offset == 3);
  CHECK_FALSE(committed.front().metadata.empty());
  const auto service = world.started();
  CHECK(eventually([&] { return world.history.distinct_done() == 50; }));
  CHECK(eventually([&] { return metric(*service, "duplicates_suppressed_total") == 46; }));
  stop_cleanly(*service);
  CHECK(world.each_done_once());
  CHECK(world.committed_offsets() == world.ends());
}

TEST_CASE("metadata that is not a completion map is ignored, but its offset is used") {
  World world(1);
  world.produce(20);
  {
    auto consumer = kafka::Consumer::create(world.config.kafka, {}, [] {});
    REQUIRE(consumer);
    kafka::CommittedOffset offset;
    offset.partition.topic = "orders";
    offset.offset = 5;
    offset.metadata = "somebody else's metadata";
    REQUIRE((*consumer)->commit(1, {offset}));
    CHECK(eventually([&] {
      const auto event = (*consumer)->poll();
      return event && std::holds_alternative<kafka::CommitResult>(*event);
    }));
    consumer->reset();
  }
  REQUIRE(world.committed().front().metadata == "somebody else's metadata");
  const auto service = world.started();
  CHECK(eventually([&] { return world.history.done_in_all() == 15; }));
  stop_cleanly(*service);
  CHECK(world.history.started({0, 4}) == 0);
  CHECK(world.history.started({0, 5}) == 1);
  CHECK(world.committed_offsets() == world.ends());
}

TEST_CASE("a handler that ignores its stop leaves the service stuck, and its record to the next service") {
  World world(2);
  world.rebalance_soon();
  world.most_per_task = 1;
  world.config.lanes.drain = milliseconds(100);
  world.produce(20);
  Gate released;
  const auto hanging = world.started([&](const handler::Attempt& attempt) {
    if (is(attempt.record, 1, 7)) released.wait();
    return Outcome::done();
  });
  CHECK(eventually([&] { return world.history.distinct_done() == 39; }));
  hanging->stop();
  const auto ended = hanging->wait();
  CHECK(ended.stuck);
  CHECK(ended.abandoned == 1);
  CHECK(world.committed_offsets() == std::vector<std::int64_t>{20, 7});
  const auto next = world.started();
  CHECK(eventually([&] { return world.history.distinct_done() == 40; }));
  stop_cleanly(*next);
  CHECK(world.history.started({1, 8}) == 1);  // the map contained the record
  CHECK(world.committed_offsets() == world.ends());
  released.open();  // before this, a stuck service cannot be destroyed
}

TEST_CASE("a second stop ends the drain at once") {
  World world(1);
  world.config.lanes.drain = std::chrono::hours(1);
  world.produce(1);
  std::atomic<bool> stop_came{false};
  const auto service = world.started([&](const handler::Attempt& attempt) {
    stop_came = attempt.stop.wait_until(SteadyClock::now() + patience);
    return Outcome::retry("stopped");
  });
  REQUIRE(eventually([&] { return world.history.started({0, 0}) == 1; }));
  service->stop();
  service->stop();
  const auto ended = service->wait();
  CHECK(stop_came);
  CHECK(ended.abandoned == 1);
  CHECK_FALSE(ended.stuck);
  CHECK(world.committed_offsets().front() <= 0);
}

TEST_CASE("a stop of a service without partitions needs no drain") {
  World world(1);
  const auto service = world.started();
  stop_cleanly(*service);
}

TEST_CASE("a service whose brokers do not answer reports that at its start deadline") {
  World world(1);
  world.config.kafka["bootstrap.servers"].value = "127.0.0.1:1";
  world.config.start_deadline = milliseconds(500);
  const auto status = world.service()->start();
  REQUIRE_FALSE(status);
  CHECK(status.error().kind == ErrorKind::unavailable);
}

TEST_CASE("a failed start reports the last answer of the brokers, even if they are silent by then") {
  World world(1);
  world.config.dead_letter.topic = "nowhere";
  world.config.dead_letter.create = false;
  world.config.start_deadline = seconds(4);
  const std::string missing = "dead-letter topic nowhere does not exist";
  // On a busy machine, no answer may come before the deadline.
  CHECK(eventually([&] {
    REQUIRE(world.cluster->set_latency(1, 0));
    const auto service = world.service();
    Status started;
    std::atomic<bool> ended{false};
    std::thread starter([&] {
      started = service->start();
      ended = true;
    });
    const auto waits_for_topic = [&] {
      const auto readiness = service->readiness();
      return !readiness.reasons.empty() && readiness.reasons.front().text.find(missing) != std::string::npos;
    };
    while (!ended && !waits_for_topic()) std::this_thread::sleep_for(milliseconds(5));
    const bool silenced = !ended && world.cluster->set_latency(1, 60000).ok();
    starter.join();
    return silenced && !started && started.error().text().find(missing) != std::string::npos;
  }));
}

TEST_CASE("a topic without the right to read delays the start, however late the refusal comes") {
  using kafka::MockCluster;
  World world(1);
  REQUIRE(world.cluster->delay_next(1, MockCluster::Request::list_offsets,
                                    {milliseconds(2500), milliseconds(2500)}, MockCluster::Failure::denied));
  const auto service = world.service();
  Status started;
  std::thread starter([&] { started = service->start(); });
  CHECK(eventually([&] {
    const auto readiness = service->readiness();
    return !readiness.reasons.empty() &&
           readiness.reasons.front().text.find("topic orders: access denied") != std::string::npos;
  }));
  starter.join();
  CHECK(started);  // the third question is not refused
  stop_cleanly(*service);
}

TEST_CASE("a stop while a service waits for its broker ends the start without an error") {
  World world(1);
  world.config.kafka["bootstrap.servers"].value = "127.0.0.1:1";
  world.config.start_deadline = 2 * patience;
  const auto service = world.service();
  std::thread stopper([&] { service->stop(); });
  CHECK(service->start());
  stopper.join();
  CHECK_FALSE(service->wait().error);
}

TEST_CASE("failed records are retried, and records that never work commit nothing beyond them") {
  World world(1);
  world.produce(30);
  world.config.lanes.drain = milliseconds(100);
  const auto service = world.started([](const handler::Attempt& attempt) -> Outcome {
    if (attempt.record.offset() == 20) throw std::runtime_error("a defect");
    return attempt.record.offset() % 3 == 0 && attempt.number == 1 ? Outcome::retry("not now")
                                                                   : Outcome::done();
  });
  CHECK(eventually([&] { return world.history.distinct_done() == 29; }));
  CHECK(eventually([&] { return world.history.started({0, 20}) > 3; }));
  CHECK(metric(*service, "pool_jobs_total", "panic") >= 3);
  CHECK(metric(*service, "pool_jobs_total", "retry") == 10);
  stop_cleanly(*service);
  const auto committed = world.committed();
  CHECK(committed.front().offset == 20);
  const auto map = lane::StoredCommit::read(committed.front()).map;
  CHECK(map.contains(29));
  CHECK_FALSE(map.contains(20));
}

TEST_CASE("commits and drains are measured, and a record that outlasts its drain is abandoned") {
  World world(1);
  world.most_per_task = 1;
  world.config.unnamed.workers = 2;
  world.config.lanes.drain = milliseconds(100);
  world.produce(5);
  const auto service = world.started(all_but(0, 3));
  CHECK(eventually([&] { return world.committed_offsets() == std::vector<std::int64_t>{3}; }));
  CHECK(eventually([&] { return sample(*service, "commit_latency_seconds").count > 0; }));
  CHECK(sample(*service, "commit_latency_seconds").sum > 0);
  CHECK(sample(*service, "drain_seconds").count == 0);
  CHECK(metric(*service, "abandoned_total") == 0);
  CHECK(sample(*service, "process_threads_expected").value ==
        static_cast<double>(expected_threads(world.config, 1, 1).all));
  service->stop();
  CHECK(service->wait().abandoned == 1);
  CHECK(metric(*service, "abandoned_total") == 1);
  CHECK(sample(*service, "drain_seconds").count == 1);
  CHECK(sample(*service, "drain_seconds").sum >= 0.1);
}

TEST_CASE("a service has every metric of the table, with its labels") {
  World world(1);
  REQUIRE(world.cluster->create_topic("orders-dlt", 1));
  world.config.dead_letter.topic = "{topic}-dlt";
  world.config.unnamed.adaptive = {config::AdaptiveAlgorithm::vegas, 1};
  world.config.journal.file = "/dev/null";
  world.produce(1);
  const auto service = world.started([](const handler::Attempt&) { return Outcome::reject("of no use"); });
  CHECK(eventually([&] { return metric(*service, "dead_letters_total") == 1; }));
  for (const auto& info : telemetry::metric_table) {
    // The program's own metrics, those that a page leaves out, and those that only some services have.
    if (info.name == "build_info" || info.name == "client_certificate_expiry_timestamp_seconds" ||
        info.name == "metrics_omitted_series" || info.name == "trace_spans_total" ||
        info.name.starts_with("named_pool_") ||  // pools/pools_test.cpp
        info.name == "parked_records" || info.name == "parked_oldest_seconds")
      continue;
    INFO(info.name);
    std::optional<std::string> labels;
    REQUIRE(eventually([&] { return (labels = labels_of(*service, info.name)).has_value(); }));
    CHECK(*labels == info.labels);
  }
  stop_cleanly(*service);
}

TEST_CASE("a record that waits for its next attempt releases its fetch buffer") {
  World world(1);
  world.produce(1);
  std::atomic<const char*> fetched{nullptr}, waited{nullptr};
  const auto service = world.started([&](const handler::Attempt& attempt) {
    (attempt.number == 1 ? fetched : waited) = attempt.record.value()->data();
    return attempt.number == 1 ? Outcome::retry("not now") : Outcome::done();
  });
  CHECK(eventually([&] { return world.history.distinct_done() == 1; }));
  CHECK(fetched.load() != nullptr);
  CHECK(waited.load() != fetched.load());  // a copy, made while the first was there
  stop_cleanly(*service);
}

TEST_CASE("a process with very many partitions has series of the first ones and one of the others") {
  World world(300);
  const auto service = world.started();
  CHECK(eventually([&] { return service->snapshot().size() == 300; }));
  CHECK(eventually([&] { return metric(*service, "lane_state", "running") == 300; }));
  for (const auto& family : service->families())
    if (family.name == "pool_queue_capacity") {
      CHECK(family.samples.size() == telemetry::partitions_with_series + 1);
      CHECK(family.samples.back().labels.at(1).second == telemetry::the_others);
    }
  CHECK(metric(*service, "pool_queue_capacity") == 300 * world.config.unnamed.queue);
  stop_cleanly(*service);
}
