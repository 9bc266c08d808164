// One measurement of a pool: producers submit jobs of equal work one by one (or in batches), and the run ends
// when all have run. The job counts itself in a counter of its thread, so that all pools are asked in the
// same way for their end, and no counter is shared.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace pools {

struct Settings {
  unsigned workers = 1;
  unsigned producers = 1;
  std::uint64_t jobs = 100000;
  std::uint64_t steps = 0;  // of work in each job
  unsigned batch = 1;
};

/// Counters of threads, on a cache line each.
class Done {
 public:
  static void count() {
    thread_local std::atomic<std::uint64_t>& mine = add();
    mine.store(mine.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  static std::uint64_t sum() {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < used.load(); ++i) sum += lines[i].count.load(std::memory_order_relaxed);
    return sum;
  }

 private:
  struct alignas(64) Line {
    std::atomic<std::uint64_t> count;  // static: 0
  };
  static std::atomic<std::uint64_t>& add() { return lines[used.fetch_add(1) % most].count; }
  static constexpr unsigned most = 1024;
  static inline Line lines[most];
  static inline std::atomic<unsigned> used{0};
};

inline void work(std::uint64_t steps) {
  std::uint64_t value = steps;
  for (std::uint64_t i = 0; i < steps; ++i) {
    value = value * 6364136223846793005U + 1442695040888963407U;
    asm volatile("" : "+r"(value));
  }
}

/// What every job is: one word.
struct Job {
  std::uint64_t steps;
  void operator()() const {
    work(steps);
    Done::count();
  }
};

/// Runs `jobs` of them; returns wall seconds. `submit(count)` submits so many from the calling thread.
template <class Submit>
double run(const Settings& settings, std::uint64_t jobs, Submit&& submit) {
  const auto before = Done::sum();
  const auto begun = std::chrono::steady_clock::now();
  const auto each = jobs / settings.producers;
  std::vector<std::thread> producers;
  for (unsigned i = 1; i < settings.producers; ++i) producers.emplace_back([&] { submit(each); });
  submit(each);
  for (auto& producer : producers) producer.join();
  while (Done::sum() - before < each * settings.producers)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

/// A pool, behind its own interface for posting one job.
class Pool {
 public:
  virtual ~Pool() = default;
  virtual double run(const Settings& settings, std::uint64_t jobs) = 0;
};

std::unique_ptr<Pool> make_laneway(const Settings& settings);
/// Null if the library was not there when this was compiled.
std::unique_ptr<Pool> make_bs(const Settings& settings);
std::unique_ptr<Pool> make_asio(const Settings& settings);
std::unique_ptr<Pool> make_tbb(const Settings& settings);
std::unique_ptr<Pool> make_moodycamel(const Settings& settings);

}  // namespace pools
