#include "laneway/pool.hpp"

#include "run.h"

namespace pools {
namespace {

/// Bounded: 1024 jobs wait at most, and the producer blocks.
class Laneway : public Pool {
 public:
  explicit Laneway(const Settings& settings)
      : pool_({.name = "bench", .workers = settings.workers, .queue = 1024}) {}

  double run(const Settings& settings, std::uint64_t jobs) override {
    return pools::run(settings, jobs, [&](std::uint64_t count) {
      if (settings.batch == 1) {
        for (std::uint64_t i = 0; i < count; ++i) static_cast<void>(pool_.submit(Job{settings.steps}));
        return;
      }
      std::vector<Job> batch(settings.batch, Job{settings.steps});
      for (std::uint64_t i = 0; i < count; i += settings.batch)
        static_cast<void>(
            pool_.submit_batch(std::span(batch).first(std::min<std::size_t>(settings.batch, count - i))));
    });
  }

 private:
  laneway::WorkerPool pool_;
};

}  // namespace

std::unique_ptr<Pool> make_laneway(const Settings& settings) { return std::make_unique<Laneway>(settings); }

}  // namespace pools
