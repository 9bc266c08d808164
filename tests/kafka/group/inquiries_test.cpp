// Questions about partitions whose leader does not answer: they keep nobody else's waiting. Two embedded
// brokers lead half of the partitions each; the second one goes silent.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catch.h"
#include "eventually.h"
#include "kafka/client/client_support.h"
#include "kafka/group/consumer.h"
#include "mock_cluster.h"

using namespace laneway;
using namespace laneway::kafka;

namespace {

// Half a second for each of the silent broker would be minutes.
constexpr std::int32_t partitions = 600;
constexpr std::int32_t healthy_broker = 1;
constexpr std::int32_t silent_broker = 2;
constexpr int turns = 5;

struct SilentLeader {
  explicit SilentLeader(std::uint32_t fetch_wait_ms = 100) {
    auto started = MockCluster::start(2);
    REQUIRE(started);
    cluster = std::move(started).value();
    REQUIRE(cluster->create_topic("orders", partitions));
    REQUIRE(cluster->set_coordinator("orders", healthy_broker));
    // A request that hangs does so for longer than a test waits.
    const ClientSettings settings{{"bootstrap.servers", {cluster->bootstrap(), "", false}},
                                  {"group.id", {"orders", "", false}},
                                  {"socket.timeout.ms", {"300000", "", false}}};
    auto created = Consumer::create(settings, {.fetch_wait_ms = fetch_wait_ms, .statistics_ms = 100}, [] {});
    REQUIRE(created);
    consumer = std::move(created).value();
    std::vector<CommittedOffset> all;
    for (std::int32_t p = 0; p < partitions; ++p) {
      all.push_back({{"orders", p}, 0, {}});
      queues.push_back(consumer->open_queue(all.back().partition, [] {}));
    }
    REQUIRE(consumer->assign(all));
    REQUIRE(eventually([&] { return knows_leaders(); }));
    REQUIRE(hears_committed(0));
  }
  ~SilentLeader() {
    queues.clear();
    consumer.reset();
  }

  /// By the client's statistics.
  bool knows_leaders() {
    while (const auto event = consumer->poll()) {
      const auto* statistics = std::get_if<Statistics>(&*event);
      if (statistics == nullptr || statistics->leaders.size() < partitions) continue;
      for (const auto& [partition, leader] : statistics->leaders)
        (leader == silent_broker ? silent : healthy).push_back(partition);
      return !silent.empty() && !healthy.empty();
    }
    return false;
  }
  bool hears_committed(std::uint64_t request) {
    consumer->request_committed(request, healthy, patience);
    return eventually([&] {
      const auto event = consumer->poll();
      const auto* committed = event ? std::get_if<Committed>(&*event) : nullptr;
      return committed != nullptr && committed->request == request && committed->error.empty();
    });
  }
  /// Whether the committed offsets come with the ids of their topics, if the client can ask for ids.
  bool hears_ids(const std::vector<TopicPartition>& asked) {
    consumer->request_committed(1, asked, patience);
    std::vector<CommittedOffset> offsets;
    REQUIRE(eventually([&] {
      const auto event = consumer->poll();
      const auto* committed = event ? std::get_if<Committed>(&*event) : nullptr;
      if (committed != nullptr) offsets = committed->offsets;
      return committed != nullptr;
    }));
    REQUIRE(offsets.size() == asked.size());
    return linked_client().version < 0x020300ff ||
           std::none_of(offsets.begin(), offsets.end(),
                        [](const auto& offset) { return offset.topic_id.empty(); });
  }
  /// As the lanes do whose partitions are paused.
  void ask_about_silent_ones() {
    for (const auto& partition : silent) consumer->ask_log(partition, false);
  }
  void check_turns() {
    for (int turn = 0; turn < turns; ++turn) {
      ask_about_silent_ones();
      // On a busy machine the time of a question may end before its answer comes. One question at a time: one
      // that is left for the next turn would make the leader count as silent there.
      auto heard = consumer->log_answer(healthy.front()).number;
      std::string first_error;
      consumer->ask_log(healthy.front(), false);
      REQUIRE(eventually([&] {
        const auto answer = consumer->log_answer(healthy.front());
        if (answer.number == heard) return false;
        heard = answer.number;
        if (first_error.empty()) first_error = answer.error;
        if (!answer.error.empty()) consumer->ask_log(healthy.front(), false);
        return answer.error.empty();
      }));
      CHECK((first_error.empty() || first_error == "Local: Timed out"));
      CHECK(consumer->log_answer(healthy.front()).bounds.end == 0);
    }
  }

  std::vector<TopicPartition> healthy;
  std::vector<TopicPartition> silent;
  std::unique_ptr<MockCluster> cluster;
  std::unique_ptr<Consumer> consumer;
  std::vector<std::unique_ptr<PartitionQueue>> queues;
};

/// As the consumers of many partitions fetch.
struct LongFetches : SilentLeader {
  LongFetches() : SilentLeader(500) {}

  bool all_heard() {
    bool all = true;
    for (const auto* some : {&healthy, &silent})
      for (const auto& partition : *some) {
        const auto answer = consumer->log_answer(partition);
        if (answer.number > 0 && !answer.error.empty()) consumer->ask_log(partition, false);  // as lanes do
        all = all && answer.number > 0 && answer.error.empty();
      }
    return all;
  }
};

}  // namespace

TEST_CASE_METHOD(LongFetches, "leaders whose fetches wait for records answer, whatever the partitions") {
  for (const auto* some : {&healthy, &silent})
    for (const auto& partition : *some) consumer->ask_log(partition, partition.partition % 2 == 0);
  CHECK(eventually([&] { return all_heard(); }));
}

TEST_CASE_METHOD(SilentLeader,
                 "partitions of a hanging leader do not delay the questions of other partitions") {
  REQUIRE(cluster->set_latency(silent_broker, 600000));
  check_turns();
}

TEST_CASE_METHOD(SilentLeader,
                 "partitions of a leader that is down do not delay the questions of other partitions") {
  REQUIRE(cluster->stop_broker(silent_broker));
  check_turns();
}

TEST_CASE_METHOD(SilentLeader, "a hanging leader does not delay committed offsets") {
  REQUIRE(cluster->set_latency(silent_broker, 600000));
  for (std::uint64_t turn = 1; turn <= turns; ++turn) {
    ask_about_silent_ones();
    REQUIRE(hears_committed(turn));
  }
}

TEST_CASE_METHOD(SilentLeader, "an unreadable offset does not keep the other offsets unknown") {
  const TopicPartition missing{"missing", 0};
  consumer->request_committed(1, {missing, healthy.front()}, milliseconds(1));
  std::optional<Committed> heard;
  REQUIRE(eventually([&] {
    const auto event = consumer->poll();
    if (const auto* committed = event ? std::get_if<Committed>(&*event) : nullptr) heard = *committed;
    return heard.has_value();
  }));
  CHECK(heard->answered);
  CHECK_FALSE(heard->error.empty());
  REQUIRE(heard->offsets.size() == 1);
  CHECK(heard->offsets.front().partition == healthy.front());
}

TEST_CASE_METHOD(SilentLeader, "the ids of topics are read although the leader of many partitions hangs") {
  REQUIRE(cluster->set_latency(silent_broker, 600000));
  auto asked = silent;
  asked.push_back(healthy.front());
  CHECK(hears_ids(asked));
}

TEST_CASE_METHOD(SilentLeader, "the ids of topics are read although the leader has changed") {
  REQUIRE(cluster->set_latency(silent_broker, 600000));
  REQUIRE(cluster->set_leader("orders", silent.front().partition, healthy_broker));
  CHECK(hears_ids({silent.front()}));
}

TEST_CASE_METHOD(SilentLeader, "the log of a partition is known again when its leader answers again") {
  REQUIRE(cluster->stop_broker(silent_broker));
  consumer->ask_log(silent.front(), false);
  REQUIRE(eventually([&] { return !consumer->log_answer(silent.front()).error.empty(); }));
  REQUIRE(cluster->start_broker(silent_broker));
  for (const bool find_leader : {false, true}) {
    const auto before = consumer->log_answer(silent.front()).number;
    CHECK(eventually([&] {
      consumer->ask_log(silent.front(), find_leader);
      const auto answer = consumer->log_answer(silent.front());
      return answer.number > before && answer.error.empty();
    }));
  }
}
