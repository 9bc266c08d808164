// A stop with a deadline: accepted jobs are finished until then; then the running ones are asked to stop, and
// those that have not begun are returned by name.
#include <laneway/pool.hpp>

#include <chrono>
#include <cstdio>
#include <latch>
#include <thread>

int main() {
  laneway::PoolOptions options;
  options.name = "mails";
  options.workers = 1;
  laneway::WorkerPool pool(options);

  std::latch running(1);
  laneway::JobOptions endless, second;
  endless.name = "a long one";
  second.name = "newsletter";
  const bool accepted = pool.submit(endless, [&running](std::stop_token stop) {
    running.count_down();
    while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::puts("the long one was asked to stop");
  }) && pool.submit(second, [] { std::puts("this one never begins"); });
  running.wait();

  const auto report = pool.stop(std::chrono::milliseconds(100), std::chrono::seconds(10));
  std::printf("%s\n", report.text.c_str());
  std::printf("after it: %s\n", pool.try_submit([] {}).text().c_str());
  return accepted && !report.drained && report.running.empty() ? 0 : 1;
}
