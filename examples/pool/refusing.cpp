// A front that accepts images: two are resized at once, four wait, and the others are refused at once, so
// that the front can answer 429 instead of growing.
#include <laneway/pool.hpp>

#include <chrono>
#include <cstdio>
#include <latch>
#include <stdexcept>
#include <string>

int main() {
  laneway::PoolOptions options;
  options.name = "resize";
  options.workers = 2;
  options.queue = 4;
  options.on_error = [](const laneway::JobError& error) {
    std::printf("%s failed: %s\n", std::string(error.name).c_str(), error.what.c_str());
  };
  laneway::WorkerPool pool(options);

  std::latch all_are_sent(1);
  for (int image = 1; image <= 8; ++image) {
    laneway::JobOptions job;
    job.name = "image " + std::to_string(image);
    const auto answer = pool.try_submit(job, [image, &all_are_sent] {
      all_are_sent.wait();  // as long as resizing takes
      if (image == 3) throw std::runtime_error("not an image");
    });
    std::printf("%s: %s\n", job.name.c_str(), answer ? "202 accepted" : ("429 " + answer.text()).c_str());
  }
  all_are_sent.count_down();

  pool.wait_idle();
  const auto metrics = pool.metrics();
  std::printf("completed %llu, failed %llu, refused %llu\n",
              static_cast<unsigned long long>(metrics.completed),
              static_cast<unsigned long long>(metrics.failed),
              static_cast<unsigned long long>(metrics.rejected_full));
  return pool.stop(std::chrono::seconds(25)).drained ? 0 : 1;
}
