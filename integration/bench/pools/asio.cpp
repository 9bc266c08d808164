// Boost.Asio's thread_pool: an unbounded queue, post() for each job.
#include "run.h"

#if __has_include(<boost/asio/thread_pool.hpp>)
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

namespace pools {
namespace {

class Asio : public Pool {
 public:
  explicit Asio(const Settings& settings) : pool_(settings.workers) {}
  ~Asio() override { pool_.join(); }

  double run(const Settings& settings, std::uint64_t jobs) override {
    return pools::run(settings, jobs, [&](std::uint64_t count) {
      for (std::uint64_t i = 0; i < count; ++i) boost::asio::post(pool_, Job{settings.steps});
    });
  }

 private:
  boost::asio::thread_pool pool_;
};

}  // namespace

std::unique_ptr<Pool> make_asio(const Settings& settings) { return std::make_unique<Asio>(settings); }

}  // namespace pools
#else
namespace pools {
std::unique_ptr<Pool> make_asio(const Settings&) { return nullptr; }
}  // namespace pools
#endif
