// Handlers that answer at any time, or several records at once: the lane's end waits until the answering
// thread has left, and batches are filled with waiting records.
#include <atomic>
#include <deque>
#include <set>
#include <thread>

#include "base/mutex.h"
#include "handler/plugin/plugin_handler.h"
#include "support.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

/// Keeps the tasks that it is given.
class KeepingHandler final : public handler::Handler {
 public:
  void handle(handler::Task task) noexcept override EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    kept_.push_back(std::move(task));
  }
  bool asynchronous() const override { return true; }
  std::uint32_t most_per_task() const override { return 1; }
  std::string name() const override { return "keeping"; }

  std::vector<std::int64_t> kept() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    std::vector<std::int64_t> offsets;
    for (auto& task : kept_) offsets.push_back(task.attempt(0).record.offset());
    return offsets;
  }

  /// Finishes the oldest record and all others of its task.
  void finish_one() EXCLUDES(mutex_) {
    std::deque<handler::Task> oldest;
    {
      MutexLock lock(mutex_);
      oldest.push_back(std::move(kept_.front()));
      kept_.pop_front();
    }
    for (std::uint32_t i = 0; i < oldest.front().size(); ++i) {
      static_cast<void>(oldest.front().attempt(i));
      oldest.front().answer(i, handler::Outcome::done());
    }
  }

  /// Fails the oldest record.
  void fail_one() EXCLUDES(mutex_) {
    std::deque<handler::Task> oldest;
    {
      MutexLock lock(mutex_);
      oldest.push_back(std::move(kept_.front()));
      kept_.pop_front();
    }
    static_cast<void>(oldest.front().attempt(0));
    oldest.front().answer(0, handler::Outcome::retry("withdrawn"));
  }

 private:
  Mutex mutex_;
  std::deque<handler::Task> kept_ GUARDED_BY(mutex_);
};

/// Blocks the signalling thread while it is closed.
class Gate {
 public:
  void pass() {
    if (!closed.load()) return;
    reached.store(true);
    while (closed.load()) std::this_thread::yield();
  }
  std::atomic<bool> closed{false};
  std::atomic<bool> reached{false};
};

/// The table of a plugin that is slow and notes how many records its batches have.
struct SlowBatches {
  static constexpr std::uint32_t most = 4;

  static std::int32_t init(const laneway_host* host, const char*, laneway_instance* instance, char*,
                           std::size_t) {
    static_cast<SlowBatches*>(instance->data)->host = host;
    instance->most_per_batch = most;
    return 0;
  }
  static void submit(void* data, const laneway_batch* batch) {
    auto& self = *static_cast<SlowBatches*>(data);
    std::this_thread::sleep_for(2 * most * pool::claim_time);
    {
      MutexLock lock(self.mutex);
      self.sizes.push_back(batch->count);
    }
    for (std::uint32_t i = 0; i < batch->count; ++i)
      self.host->answer(self.host, batch->task, i, LANEWAY_DONE, -1, nullptr);
  }
  std::vector<std::uint32_t> seen() {
    MutexLock lock(mutex);
    return sizes;
  }

  const laneway_host* host = nullptr;
  Mutex mutex;
  std::vector<std::uint32_t> sizes GUARDED_BY(mutex);
};

}  // namespace

TEST_CASE("a slow plugin's batches are filled with waiting records") {
  SlowBatches slow;
  const laneway_plugin table{LANEWAY_PLUGIN_ABI,
                             sizeof(laneway_plugin),
                             "slow",
                             "1.0",
                             SlowBatches::init,
                             nullptr,
                             SlowBatches::submit,
                             nullptr};
  auto plugin = handler::Plugin::start(table, "{}", &slow);
  REQUIRE(plugin.ok());
  const auto handler = handler::PluginHandler::make(std::move(plugin).value(), std::chrono::hours(1));
  TestLane world;
  world.stage().handler = handler.get();
  world.partition.add_run(0, 4 * SlowBatches::most);
  world.begin();
  REQUIRE(world.until([&] { return world.commit_offset() == 4 * SlowBatches::most; }));
  CHECK(slow.seen() == std::vector<std::uint32_t>(4, SlowBatches::most));
  world.lane.reset();  // before its handler
}

TEST_CASE("a lane does not end before the thread of the last answer has signalled") {
  TestLane world;  // for its context and partition
  KeepingHandler handler;
  world.stage().handler = &handler;
  world.partition.add(0);
  Gate gate;
  Lane lane(world.context, StoredCommit{{"orders", 3}, 0}, 7, [&] { gate.pass(); });
  lane.start(std::make_unique<SimulatedSource>(world.partition), world.now);
  while (lane.work(world.now)) {
  }
  REQUIRE(lane.pool().snapshot().in_flight == 1);

  gate.closed.store(true);
  std::thread answering([&] { handler.fail_one(); });
  for (const auto deadline = Deadline::in(patience); !gate.reached.load() && !deadline.passed();)
    std::this_thread::yield();
  (void)lane.revoke(world.now);
  CHECK(lane.pool().drained());
  CHECK_FALSE(lane.close_pool(Deadline::in(patience)));
  gate.closed.store(false);
  answering.join();
  CHECK(lane.close_pool(Deadline::in(patience)));
}

TEST_CASE("an asynchronous handler always has records of as many keys as there are workers") {
  const bool outage = GENERATE(false, true);
  TestLane world;
  KeepingHandler handler;
  world.stage().handler = &handler;
  world.context.lanes.order = config::Order::key;
  constexpr std::int64_t keys = 5;
  for (std::int64_t offset = 0; offset < 200; ++offset)
    world.partition.add(offset, "key-" + std::to_string(offset % keys));
  world.begin();
  if (outage) {
    for (int failed = 0; failed < keys; ++failed) {
      REQUIRE(world.until([&] { return !handler.kept().empty(); }));
      handler.fail_one();
    }
    REQUIRE(world.until_outstanding(0));
    world.pass(seconds(100));
  }
  for (int finished = 0; finished < 100; ++finished) {
    REQUIRE(world.until([&] { return handler.kept().size() == 4; }));
    std::set<std::int64_t> seen;
    for (const auto offset : handler.kept()) seen.insert(offset % keys);
    REQUIRE(seen.size() == 4);
    std::this_thread::sleep_for(milliseconds(5));  // long enough for one record at a time
    handler.finish_one();
  }
  (void)world.lane->revoke(world.now);
  for (auto left = handler.kept().size(); left > 0; --left) handler.finish_one();
  world.lane.reset();  // before its handler
}
