// A pool of threads at moodycamel's BlockingConcurrentQueue of std::function, with tokens; in batches with
// its bulk calls.
#include "run.h"

#if __has_include(<concurrentqueue/blockingconcurrentqueue.h>)
#include <concurrentqueue/blockingconcurrentqueue.h>
#define LANEWAY_MOODYCAMEL
#endif

#ifdef LANEWAY_MOODYCAMEL
#include <functional>

namespace pools {
namespace {

class Moodycamel : public Pool {
 public:
  explicit Moodycamel(const Settings& settings) {
    for (unsigned i = 0; i < settings.workers; ++i)
      threads_.emplace_back([this, most = settings.batch] { serve(most); });
  }
  ~Moodycamel() override {
    for (std::size_t i = 0; i < threads_.size(); ++i) queue_.enqueue({});  // an empty one ends its thread
    for (auto& thread : threads_) thread.join();
  }

  double run(const Settings& settings, std::uint64_t jobs) override {
    return pools::run(settings, jobs, [&](std::uint64_t count) {
      moodycamel::ProducerToken token(queue_);
      if (settings.batch == 1) {
        for (std::uint64_t i = 0; i < count; ++i) queue_.enqueue(token, Job{settings.steps});
        return;
      }
      const std::vector<Job> batch(settings.batch, Job{settings.steps});
      for (std::uint64_t i = 0; i < count; i += settings.batch)
        queue_.enqueue_bulk(token, batch.begin(), std::min<std::uint64_t>(settings.batch, count - i));
    });
  }

 private:
  void serve(unsigned most) {
    moodycamel::ConsumerToken token(queue_);
    std::vector<std::function<void()>> jobs(most);
    for (;;) {
      const auto count = most == 1 ? (queue_.wait_dequeue(token, jobs[0]), std::size_t{1})
                                   : queue_.wait_dequeue_bulk(token, jobs.begin(), most);
      unsigned ends = 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (jobs[i])
          jobs[i]();
        else
          ++ends;
      }
      for (; ends > 1; --ends) queue_.enqueue({});
      if (ends == 1) return;
    }
  }

  moodycamel::BlockingConcurrentQueue<std::function<void()>> queue_;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<Pool> make_moodycamel(const Settings& settings) {
  return std::make_unique<Moodycamel>(settings);
}

}  // namespace pools
#else
namespace pools {
std::unique_ptr<Pool> make_moodycamel(const Settings&) { return nullptr; }
}  // namespace pools
#endif
