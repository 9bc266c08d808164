// What a hand-off costs: laneway's pool beside the usual mutex + condition variable + deque, with jobs that
// do nothing; and sixteen pools fed by one thread, as a service with sixteen lanes does it.
//
// Read the counters: ns (wall) and cpu_ns (all threads) for each job, switches (context switches) for 1000
// jobs.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "pool/pool.h"

namespace {

using namespace laneway;
using pool::Admission;

struct Jobs : pool::Batch {};

/// Does nothing, or computes for about `nanoseconds`, job by job as a lane's handler would.
class Computing final : public pool::Work {
 public:
  explicit Computing(std::int64_t steps) : steps_(steps) {}
  void run(const pool::Claim& claim) noexcept override {
    for (std::uint32_t i = 0; i < claim.range.count(); ++i) {
      claim.slot->progress(claim.first_ticket + i);
      for (std::int64_t step = 0; step < steps_; ++step) benchmark::DoNotOptimize(step);
      benchmark::ClobberMemory();
    }
    pool->finish(claim);
  }
  pool::Pool* pool = nullptr;

 private:
  std::int64_t steps_;
};

/// Where the producer waits when a pool is full: some microseconds awake, then asleep. What is measured is
/// the hand-off; on an idle virtual machine one wake-up of this thread costs as much as a thousand of them.
class Room {
 public:
  void notify() {
    room_.store(true, std::memory_order_release);
    std::lock_guard lock(mutex_);
    condition_.notify_one();
  }
  void wait() {
    for (const auto until = SteadyClock::now() + microseconds(20); SteadyClock::now() < until;)
      if (room_.exchange(false, std::memory_order_acquire)) return;
    std::unique_lock lock(mutex_);
    condition_.wait(lock, [this] { return room_.exchange(false, std::memory_order_acquire); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  std::atomic<bool> room_{false};
};

class Meter {
 public:
  Meter() : cpu_(cpu()), wall_(wall()), switches_(switches()) {}
  void report(benchmark::State& state, double jobs) const {
    state.counters["ns"] = (wall() - wall_) / jobs;
    state.counters["cpu_ns"] = (cpu() - cpu_) / jobs;
    state.counters["switches"] = 1000 * (switches() - switches_) / jobs;
  }

 private:
  static double read(clockid_t clock) {
    timespec at;
    clock_gettime(clock, &at);
    return 1e9 * static_cast<double>(at.tv_sec) + static_cast<double>(at.tv_nsec);
  }
  static double cpu() { return read(CLOCK_PROCESS_CPUTIME_ID); }
  static double wall() { return read(CLOCK_MONOTONIC); }
  static double switches() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_nvcsw + usage.ru_nivcsw);
  }
  double cpu_, wall_, switches_;
};

constexpr std::uint32_t batch_size = 256;

void submit_all(pool::Pool& pool, Jobs& jobs, Room& room) {
  for (std::uint32_t begin = 0;;) {
    const auto submitted = pool.try_submit(jobs, begin);
    begin += submitted.taken;
    if (begin == jobs.size) return;
    pool.notify_at((pool.limits().workers + pool.limits().queue) / 2);
    room.wait();
  }
}

/// Arguments: workers, steps of work a job, jobs a batch.
void BM_pool(benchmark::State& state) {
  Computing work(state.range(1));
  Room room;
  pool::Limits limits;
  limits.workers = static_cast<std::uint32_t>(state.range(0));
  limits.queue = 1024;
  pool::Pool pool(limits, work, [&room] { room.notify(); });
  work.pool = &pool;
  Jobs jobs;
  jobs.size = static_cast<std::uint32_t>(state.range(2));
  const Meter meter;
  for (auto _ : state) submit_all(pool, jobs, room);
  pool.join(Deadline::in(seconds(60)));
  meter.report(state, static_cast<double>(state.iterations()) * jobs.size);
}

/// The usual pool, without bound: one job at a time through a mutex, a condition variable and a deque.
class UsualPool {
 public:
  explicit UsualPool(std::uint32_t workers) {
    for (std::uint32_t i = 0; i < workers; ++i) threads_.emplace_back([this] { run(); });
  }
  ~UsualPool() {
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
    }
    work_.notify_all();
    for (auto& thread : threads_) thread.join();
  }
  void submit(std::uint64_t job) {
    {
      std::unique_lock lock(mutex_);
      room_.wait(lock, [this] { return queue_.size() < 1024; });
      queue_.push_back(job);
    }
    work_.notify_one();
  }

 private:
  void run() {
    for (;;) {
      std::uint64_t job;
      {
        std::unique_lock lock(mutex_);
        work_.wait(lock, [this] { return closed_ || !queue_.empty(); });
        if (queue_.empty()) return;
        job = queue_.front();
        queue_.pop_front();
      }
      room_.notify_one();
      benchmark::DoNotOptimize(job);
    }
  }
  std::mutex mutex_;
  std::condition_variable work_, room_;
  std::deque<std::uint64_t> queue_;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

void BM_usual_pool(benchmark::State& state) {
  const Meter meter;
  {
    UsualPool pool(static_cast<std::uint32_t>(state.range(0)));
    for (auto _ : state)
      for (std::uint32_t job = 0; job < batch_size; ++job) pool.submit(job);
  }
  meter.report(state, static_cast<double>(state.iterations()) * batch_size);
}

/// Sixteen pools of eight workers, one producer that goes round them with a batch each. Arguments: steps,
/// jobs a batch.
void BM_sixteen_lanes(benchmark::State& state) {
  struct Lane {
    explicit Lane(std::int64_t steps)
        : work(steps), pool({.workers = 8, .queue = 1024}, work, [this] { room.notify(); }) {
      work.pool = &pool;
    }
    Room room;
    Computing work;
    pool::Pool pool;
  };
  std::vector<std::unique_ptr<Lane>> lanes;
  for (int i = 0; i < 16; ++i) lanes.push_back(std::make_unique<Lane>(state.range(0)));
  Jobs jobs;
  jobs.size = static_cast<std::uint32_t>(state.range(1));
  const Meter meter;
  for (auto _ : state)
    for (auto& lane : lanes) submit_all(lane->pool, jobs, lane->room);
  for (auto& lane : lanes) lane->pool.join(Deadline::in(seconds(60)));
  meter.report(state, static_cast<double>(state.iterations()) * 16 * jobs.size);
}

void usual_arguments(benchmark::internal::Benchmark* bench) {
  for (int workers : {1, 2, 4, 8, 16, 64}) bench->Args({workers});
}
/// What the pool counts of a claim for the metrics, however many jobs it has.
void BM_metrics_of_claim(benchmark::State& state) {
  Histogram queue_wait, duration;
  Duration value{};
  const Meter meter;
  for (auto _ : state) {
    queue_wait.record(value, 2);
    duration.record(value, 2);
    value = (value + nanoseconds(997)) % milliseconds(1);
  }
  meter.report(state, static_cast<double>(state.iterations()));
}

void pool_arguments(benchmark::internal::Benchmark* bench) {
  for (int workers : {1, 2, 4, 8, 16, 64}) bench->Args({workers, 0, batch_size});
  bench->Args({8, 0, 32})->Args({8, 0, 1})->Args({8, 250, batch_size})->Args({8, 2500, batch_size});
}

BENCHMARK(BM_pool)->Apply(pool_arguments)->UseRealTime();
BENCHMARK(BM_usual_pool)->Apply(usual_arguments)->UseRealTime();
BENCHMARK(BM_metrics_of_claim);
BENCHMARK(BM_sixteen_lanes)->Args({0, batch_size})->Args({250, batch_size})->Args({250, 16})->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
