// Threads that sleep and do nothing else: what a machine makes of the ideal of so many workers.
#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "process.h"

namespace {

nlohmann::ordered_json measure(std::size_t threads, std::chrono::milliseconds work,
                               std::chrono::duration<double> time) {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> slept{0};
  std::vector<std::thread> sleeping;
  for (std::size_t i = 0; i < threads; ++i)
    sleeping.emplace_back([&] {
      for (; !stop.load(std::memory_order_relaxed); slept.fetch_add(1, std::memory_order_relaxed))
        std::this_thread::sleep_for(work);
    });
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const auto begin = std::chrono::steady_clock::now();
  const auto before = slept.load();
  std::this_thread::sleep_for(time);
  const auto done = static_cast<double>(slept.load() - before);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  stop.store(true);
  for (auto& thread : sleeping) thread.join();
  return {{"rate", done / wall}, {"peak_mib", bench::peak_resident_mib()}};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Threads that sleep");
  std::size_t threads = 128;
  double seconds = 10;
  int work = 10;
  app.add_option("--threads", threads);
  app.add_option("--work", work, "ms of each sleep");
  app.add_option("--seconds", seconds);
  CLI11_PARSE(app, argc, argv);
  std::cout << measure(threads, std::chrono::milliseconds(work), std::chrono::duration<double>(seconds))
            << std::endl;
}
