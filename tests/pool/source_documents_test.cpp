// The examples and tests of the documents that docs/source-requirements.md lists, with their numbers. Time is
// virtual where an example has times: the pool has no threads then (Limits::asynchronous), and this file's
// clock says when a claim is done.
#include <dirent.h>

#include <map>

#include "support.h"

using namespace laneway;
using namespace laneway::pool;

namespace {

/// Work that takes time on a clock of its own, in ms. A downstream that is dead answers nothing.
class VirtualPool {
 public:
  VirtualPool(std::uint32_t workers, std::uint32_t queue, std::function<int()> service_time)
      : service_time_(std::move(service_time)),
        pool_(
            virtual_limits(workers, queue), [this](const Claim& claim) { begin(claim); },
            TestPool::Finish::later) {}

  Pool* operator->() { return pool_.operator->(); }

  /// Offers this many jobs, one by one; returns how many the pool accepted.
  int offer(int jobs) {
    int accepted = 0;
    for (int job = 0; job < jobs; ++job) {
      batches_.push_back(std::make_unique<Jobs>(1));
      const auto submitted = pool_->try_submit(*batches_.back());
      if (submitted.taken == 1) {
        ++accepted;
      } else {
        CHECK(submitted.admission == Admission::full);
        batches_.pop_back();
      }
    }
    return accepted;
  }
  void advance_to(int time) {
    while (!running_.empty() && running_.begin()->first <= time) {
      const auto next = running_.begin();
      const Claim claim = next->second;
      now_ = next->first;
      running_.erase(next);
      ++done_;
      pool_->finish(claim);
    }
    now_ = time;
  }
  void kill() { dead_ = true; }
  /// The downstream answers again; what it had forgotten fails when its stop is requested.
  void revive() {
    dead_ = false;
    for (const Claim& claim : std::exchange(forgotten_, {})) {
      CHECK(claim.stop_token(claim.range.begin).stop_requested());
      ++done_;
      pool_->finish(claim);
    }
  }

  int done() const { return done_; }
  int unfinished() { return static_cast<int>(pool_->snapshot().in_flight + pool_->snapshot().queued); }
  int queued() { return static_cast<int>(pool_->snapshot().queued); }
  /// Jobs that have begun, by the time at which they did.
  const std::map<int, int>& begun() const { return begun_; }
  bool all_accepted_ran_once() const {
    return std::all_of(batches_.begin(), batches_.end(), [](const auto& jobs) { return jobs->all_ran(); });
  }

 private:
  static Limits virtual_limits(std::uint32_t workers, std::uint32_t queue) {
    Limits result = limits(workers, queue);
    result.asynchronous = true;
    result.most_per_claim = 1;
    return result;
  }
  void begin(const Claim& claim) {
    run_jobs(claim);
    ++begun_[now_];
    if (dead_)
      forgotten_.push_back(claim);
    else
      running_.emplace(now_ + service_time_(), claim);
  }

  const std::function<int()> service_time_;
  int now_ = 0;
  int done_ = 0;
  bool dead_ = false;
  std::multimap<int, Claim> running_;  // by the time at which they are done
  std::vector<Claim> forgotten_;
  std::map<int, int> begun_;
  std::vector<std::unique_ptr<Jobs>> batches_;
  TestPool pool_;
};

int threads_of_the_process() {
  int count = 0;
  DIR* tasks = opendir("/proc/self/task");
  REQUIRE(tasks != nullptr);
  while (const auto* entry = readdir(tasks)) count += entry->d_name[0] != '.' ? 1 : 0;
  closedir(tasks);
  return count;
}

}  // namespace

TEST_CASE("S0-26: a hundred images of 80 ms on 4 workers are done after 2000 ms") {
  VirtualPool pool(4, 200, [] { return 80; });
  CHECK(pool.offer(100) == 100);
  CHECK(pool.unfinished() == 100);
  CHECK(pool.begun().at(0) == 4);
  pool.advance_to(80);
  CHECK(pool.begun().at(80) == 4);
  pool.advance_to(1999);
  CHECK(pool.done() == 96);
  pool.advance_to(2000);
  CHECK(pool.done() == 100);
  CHECK(pool->drained());
}

TEST_CASE("S0-27: 50/s on workers that do 20/s leave 30 more each second, until the room ends") {
  // The document counts the 4 tasks at work as queued: 200 places in all. With a queue of 200 beside the
  // workers there are 204.
  const auto [queue, accepted] = GENERATE(table<int, int>({{196, 20}, {200, 24}}));
  VirtualPool pool(4, static_cast<std::uint32_t>(queue), [] { return 200; });
  for (int second = 1; second <= 6; ++second) {
    CHECK(pool.offer(50) == 50);
    pool.advance_to(1000 * second);
    CHECK(pool.unfinished() == 30 * second);
  }
  CHECK(pool.offer(50) == accepted);
  CHECK(pool.queued() == queue);
  CHECK(pool.offer(1) == 0);
  pool.advance_to(60'000);
  CHECK(pool->drained());
  CHECK(pool.done() == 6 * 50 + accepted);
  CHECK(pool.all_accepted_ran_once());
}

TEST_CASE("S2-43: of 2 workers and a queue of 4, six jobs are accepted and the seventh is refused as full") {
  Gate gate;
  auto jobs = single_jobs(7);
  TestPool pool(limits(2, 4), [&](const Claim& claim) {
    gate.pass();
    run_jobs(claim);
  });
  for (int job = 0; job < 6; ++job) CHECK(pool->try_submit(jobs[job]).admission == Admission::accepted);
  CHECK(pool->try_submit(jobs[6]).admission == Admission::full);
  CHECK(gate.holds(2));
  CHECK(pool->try_submit(jobs[6]).admission == Admission::full);
  CHECK(pool->snapshot().queued == 4);
  gate.open();
  REQUIRE(pool->join(Deadline::in(patience)));
  for (int job = 0; job < 6; ++job) CHECK(jobs[job].all_ran());
  CHECK(jobs[6].all_ran(0));
}

TEST_CASE("S2-34: spikes of latency fill the pool, which refuses jobs, and later recovers") {
  int service_time = 10;
  VirtualPool pool(8, 64, [&] { return service_time; });
  int offered = 0;
  int accepted = 0;
  int refused_in_calm = 0;
  for (int tick = 0; tick < 1000; ++tick) {  // 400/s come, 800/s can be done, and 16/s in a spike
    const bool spike = tick % 250 >= 200;
    service_time = spike ? 500 : 10;
    offered += 4;
    const int now_accepted = pool.offer(4);
    accepted += now_accepted;
    if (tick % 250 >= 60 && !spike) refused_in_calm += 4 - now_accepted;
    CHECK(pool.unfinished() <= 8 + 64);
    pool.advance_to(10 * (tick + 1));
  }
  CHECK(accepted < offered);
  CHECK(refused_in_calm == 0);
  pool.advance_to(20'000);
  CHECK(pool->drained());
  CHECK(pool.done() == accepted);
  CHECK(pool.all_accepted_ran_once());
}

TEST_CASE("S1-37: a pool with a dead downstream refuses at once, and recovers with the downstream") {
  VirtualPool pool(4, 16, [] { return 10; });
  CHECK(pool.offer(4) == 4);
  pool.advance_to(10);
  pool.kill();
  CHECK(pool.offer(1000) == 4 + 16);
  CHECK(pool.queued() == 16);
  CHECK(pool.offer(1000) == 0);
  CHECK(pool->tick(SteadyClock::now() + limits(4, 16).job_deadline + seconds(1)).empty());
  pool.revive();
  CHECK(pool.offer(1) == 1);
  pool.advance_to(1000);
  CHECK(pool->drained());
  CHECK(pool.done() == 4 + 4 + 16 + 1);
  CHECK(pool.all_accepted_ran_once());
}

TEST_CASE("S1-79: a pool that is cancelled while its jobs wait leaves no thread behind") {
  // A thread that has been joined may be listed for a moment.
  const int before = threads_of_the_process();
  for (int round = 0; round < 20; ++round) {
    auto jobs = single_jobs(24);
    {
      std::atomic<int> waiting{0};
      std::atomic<int> stopped{0};
      TestPool pool(limits(8, 16), [&](const Claim& claim) {
        ++waiting;
        stopped += claim.stop_token(claim.range.begin).wait_until(Deadline::in(patience).at) ? 1 : 0;
        run_jobs(claim);
      });
      for (auto& job : jobs) CHECK(pool->try_submit(job).taken == 1);
      CHECK(eventually([&] { return waiting == 8; }));
      CHECK(threads_of_the_process() >= before + 8);
      pool->cancel();
      REQUIRE(pool->join(Deadline::in(patience)));
      CHECK(stopped == 24);
    }
    CHECK(std::all_of(jobs.begin(), jobs.end(), [](const Jobs& job) { return job.all_ran(); }));
  }
  CHECK(eventually([&] { return threads_of_the_process() == before; }));
}
