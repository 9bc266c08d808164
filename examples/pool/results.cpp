// Results of jobs: a future, a wait, and a batch that many workers share.
#include <laneway/pool.hpp>

#include <atomic>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

int main() {
  laneway::PoolOptions options;
  options.name = "results";
  options.workers = 4;
  laneway::WorkerPool pool(options);

  auto later = pool.async([] { return 6 * 7; });
  std::printf("a future: %d\n", later.get());
  std::printf("a wait: %s\n", pool.submit_and_wait([] { return std::string("done"); }).c_str());
  try {
    pool.submit_and_wait([]() -> int { throw std::runtime_error("no such user"); });
  } catch (const std::runtime_error& error) {
    std::printf("an exception: %s\n", error.what());
  }

  std::atomic<long> sum = 0;
  const auto add = [&sum](int number) { return [&sum, number] { sum += number; }; };
  std::vector<decltype(add(0))> jobs;
  for (int number = 1; number <= 1000; ++number) jobs.push_back(add(number));
  const auto answer = pool.submit_batch(std::span(jobs));  // waits while the queue is full
  pool.wait_idle();
  std::printf("a batch of %u: %ld\n", answer.accepted, sum.load());
}
