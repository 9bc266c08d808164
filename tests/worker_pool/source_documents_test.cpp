// The examples and tests of the documents that docs/source-requirements.md lists, with their numbers, on the
// pool as a library. Time is virtual: each job runs until the test ends it, and each step waits for the state
// that must follow from it.
#include <algorithm>
#include <memory>

#include "worker_pool/support.h"

namespace laneway {
namespace {

using namespace std::chrono_literals;

/// A pool whose jobs end when the test says so. After each step its counts are what they must be, exactly.
class VirtualPool {
 public:
  enum class Jobs { unknown, known_as_short };  // workers claim many short jobs at once

  VirtualPool(unsigned workers, std::size_t queue, Jobs jobs)
      : workers_(workers), queue_(queue), pool_(pool_options(workers, queue)) {
    if (jobs == Jobs::known_as_short) learn_short_jobs(pool_);
    before_ = pool_.metrics().completed;
  }
  ~VirtualPool() { hold_.set_open(true); }

  /// Offers jobs one by one. Returns how many were accepted.
  int offer(int jobs) {
    int accepted = 0;
    for (int i = 0; i < jobs; ++i) {
      const auto answer = pool_.try_submit([this] { run(); });
      if (answer) {
        ++accepted;
        continue;
      }
      const auto places = std::to_string(queue_);
      REQUIRE(answer.text() == "job queue full (" + places + "/" + places + ")");
    }
    accepted_ += accepted;
    settle();
    return accepted;
  }
  /// The time comes at which so many of the running jobs are done.
  void end(int jobs) {
    hold_.let_through(jobs);
    done_ += jobs;
    settle();
  }
  /// Each worker ends one job, so often.
  void end_all_running(int times) {
    for (int i = 0; i < times; ++i) end(running());
  }
  void end_everything() {
    hold_.set_open(true);
    pool_.wait_idle();
    hold_.set_open(false);
    done_ = accepted_;
    REQUIRE(ran_ == accepted_);
    settle();
  }

  int unfinished() const { return accepted_ - done_; }
  int done() const { return done_; }
  int running() const { return std::min(unfinished(), static_cast<int>(workers_)); }
  int queued() const { return unfinished() - running(); }

 private:
  void run() {
    hold_.pass();
    ++ran_;
  }
  void settle() {
    REQUIRE(hold_.holds(running()));
    const auto done = before_ + static_cast<std::uint64_t>(done_);
    REQUIRE(eventually([&] { return pool_.metrics().completed == done; }));
    const auto metrics = pool_.metrics();
    REQUIRE(metrics.running == static_cast<std::uint32_t>(running()));
    REQUIRE(metrics.queued == static_cast<std::uint64_t>(queued()));
  }

  const unsigned workers_;
  const std::size_t queue_;
  std::uint64_t before_ = 0;
  int accepted_ = 0, done_ = 0;
  std::atomic<int> ran_ = 0;
  PoolTurnstile hold_;
  WorkerPool pool_;
};

TEST_CASE("S0-26: a hundred images on 4 workers take as long as 25 of them") {
  VirtualPool pool(4, 200, VirtualPool::Jobs::unknown);
  REQUIRE(pool.offer(100) == 100);
  pool.end_all_running(24);
  REQUIRE(pool.unfinished() == 4);
  pool.end_all_running(1);
  REQUIRE(pool.done() == 100);
}

TEST_CASE("S0-27: 50/s on workers that do 20/s leave 30 more each second, until the room ends") {
  // The document counts the 4 tasks at work as queued: 200 places in all. With a queue of 200 beside the
  // workers there are 204.
  const auto [queue, accepted] = GENERATE(table<int, int>({{196, 20}, {200, 24}}));
  const auto jobs = GENERATE(VirtualPool::Jobs::unknown, VirtualPool::Jobs::known_as_short);
  VirtualPool pool(4, static_cast<std::size_t>(queue), jobs);
  for (int second = 1; second <= 6; ++second) {
    REQUIRE(pool.offer(50) == 50);
    pool.end_all_running(5);
    REQUIRE(pool.unfinished() == 30 * second);
  }
  REQUIRE(pool.offer(50) == accepted);
  REQUIRE(pool.queued() == queue);
  REQUIRE(pool.offer(1) == 0);
  pool.end(1);
  REQUIRE(pool.offer(2) == 1);
  pool.end_everything();
}

TEST_CASE("S1-36: at 1.5 times the rate the queue fills, then a third is refused, and none is lost") {
  const auto jobs = GENERATE(VirtualPool::Jobs::unknown, VirtualPool::Jobs::known_as_short);
  VirtualPool pool(4, 50, jobs);
  std::vector<int> refused;
  for (int second = 1; second <= 8; ++second) {
    refused.push_back(30 - pool.offer(30));
    REQUIRE(pool.queued() <= 50);
    pool.end_all_running(5);
  }
  REQUIRE(refused == std::vector<int>{0, 0, 0, 6, 10, 10, 10, 10});
  pool.end_everything();
}

TEST_CASE("S2-34: spikes of latency fill the pool, which refuses jobs, and later recovers") {
  VirtualPool pool(8, 64, VirtualPool::Jobs::known_as_short);
  for (int spike = 0; spike < 4; ++spike) {
    REQUIRE(pool.offer(200) == 8 + 64);
    for (int i = 0; i < 20; ++i) {
      pool.end(3);
      REQUIRE(pool.offer(10) == 3);
    }
    pool.end_everything();
    for (int calm = 0; calm < 20; ++calm) {
      REQUIRE(pool.offer(50) == 50);
      pool.end_everything();
    }
  }
}

TEST_CASE("S1-79: a pool that is stopped while its jobs wait leaves no thread and no job behind") {
  const int before = threads_of_this_process();
  const auto shared = std::make_shared<int>(0);
  for (int round = 0; round < 20; ++round) {
    auto options = pool_options(8, 16);
    options.job_timeout = 1h;  // with a timekeeper
    WorkerPool pool(options);
    std::atomic<int> waiting = 0, stopped = 0;
    for (int i = 0; i < 24; ++i)
      REQUIRE(pool.try_submit([&, shared](std::stop_token stop) {
        ++waiting;
        if (eventually([&] { return stop.stop_requested(); })) ++stopped;
      }));
    REQUIRE(eventually([&] { return waiting == 8; }));
    REQUIRE(threads_of_this_process() >= before + 8);
    const auto report = pool.stop(0ms, 1min);
    REQUIRE(report.abandoned.size() == 16);
    REQUIRE(report.running.empty());
    REQUIRE(stopped == 8);
  }
  REQUIRE(shared.use_count() == 1);
  // A thread that was joined may be on the list for a moment: now, and one of an earlier test before.
  REQUIRE(eventually([&] { return threads_of_this_process() <= before; }));
}

TEST_CASE("each job that ends makes room for a waiting submitter, also in a claim whose next job hangs") {
  PoolTurnstile hold;
  WorkerPool pool(pool_options(1, 200));
  learn_short_jobs(pool);
  pool.pause();
  for (int i = 0; i < 201; ++i) REQUIRE(pool.submit([&] { hold.pass(); }));
  pool.resume();
  REQUIRE(hold.holds(1));
  for (int i = 0; i < 10; ++i) {
    std::atomic<bool> accepted = false;
    std::thread submitter([&] { accepted = static_cast<bool>(pool.submit([&] { hold.pass(); })); });
    hold.let_through(1);
    submitter.join();
    REQUIRE(accepted);
    REQUIRE(pool.try_submit([] {}).verdict == Verdict::full);
  }
  hold.set_open(true);
  pool.wait_idle();
}

}  // namespace
}  // namespace laneway
