// oneTBB: an arena of as many workers, enqueue() for each job; the limit of the process is raised so that
// there are as many threads.
#include "run.h"

#if __has_include(<oneapi/tbb/task_arena.h>)
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

namespace pools {
namespace {

class Tbb : public Pool {
 public:
  explicit Tbb(const Settings& settings)
      : limit_(oneapi::tbb::global_control::max_allowed_parallelism, settings.workers + 1),
        arena_(static_cast<int>(settings.workers), 0) {
    arena_.initialize();
  }

  double run(const Settings& settings, std::uint64_t jobs) override {
    return pools::run(settings, jobs, [&](std::uint64_t count) {
      for (std::uint64_t i = 0; i < count; ++i) arena_.enqueue(Job{settings.steps});
    });
  }

 private:
  oneapi::tbb::global_control limit_;
  oneapi::tbb::task_arena arena_;
};

}  // namespace

std::unique_ptr<Pool> make_tbb(const Settings& settings) { return std::make_unique<Tbb>(settings); }

}  // namespace pools
#else
namespace pools {
std::unique_ptr<Pool> make_tbb(const Settings&) { return nullptr; }
}  // namespace pools
#endif
