// A handler that answers from a thread of its own: the lane's end waits for that thread to be out of it.
#include <atomic>
#include <deque>
#include <thread>

#include "base/mutex.h"
#include "support.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

/// Keeps what it is given.
class KeepingHandler final : public handler::Handler {
 public:
  void handle(handler::Task task) noexcept override EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    kept_.push_back(std::move(task));
  }
  bool asynchronous() const override { return true; }
  std::uint32_t most_per_task() const override { return 1; }
  std::string name() const override { return "keeping"; }

  /// The oldest one fails.
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

/// Holds up whoever signals, while it is closed.
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

}  // namespace

TEST_CASE("a lane is not over while the thread that answered last has yet to signal") {
  TestLane world;  // for its context and partition
  KeepingHandler handler;
  world.context.handler = &handler;
  world.partition.add(0);
  Gate gate;
  Lane lane(world.context, kafka::CommittedOffset{{"orders", 3}, 0, {}}, 7, [&] { gate.pass(); });
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
