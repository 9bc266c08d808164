// BS::thread_pool: an unbounded queue, detach_task() for each job.
#include "run.h"

#if __has_include(<BS_thread_pool.hpp>)
#include <BS_thread_pool.hpp>

namespace pools {
namespace {

class Bs : public Pool {
 public:
  explicit Bs(const Settings& settings) : pool_(settings.workers) {}

  double run(const Settings& settings, std::uint64_t jobs) override {
    return pools::run(settings, jobs, [&](std::uint64_t count) {
      for (std::uint64_t i = 0; i < count; ++i) pool_.detach_task(Job{settings.steps});
    });
  }

 private:
  BS::thread_pool<> pool_;
};

}  // namespace

std::unique_ptr<Pool> make_bs(const Settings& settings) { return std::make_unique<Bs>(settings); }

}  // namespace pools
#else
namespace pools {
std::unique_ptr<Pool> make_bs(const Settings&) { return nullptr; }
}  // namespace pools
#endif
