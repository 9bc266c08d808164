// Answers up to eight records at once from a thread of its own: soon, or with any record at an offset of 499,
// 999, … long after the attempt's time is over. It answers done then, too.
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "laneway/plugin.hpp"

namespace {

using Clock = std::chrono::steady_clock;

class Late final : public laneway::BatchPlugin {
 public:
  Late(laneway::Host, std::string_view) {}
  ~Late() override {
    ended_ = true;
    thread_.join();
  }

  std::uint32_t most_per_batch() const override { return 8; }

  void submit(laneway::Batch batch) override {
    bool late = false;
    for (std::uint32_t i = 0; i < batch.size(); ++i) late = late || batch.record(i).offset() % 500 == 499;
    const auto due = Clock::now() + std::chrono::milliseconds(late ? 3000 : 20);
    const std::lock_guard lock(mutex_);
    waiting_.emplace(due, std::move(batch));
  }

 private:
  void answer_in_time() {
    for (; !ended_; std::this_thread::sleep_for(std::chrono::milliseconds(5))) {
      const std::lock_guard lock(mutex_);
      while (!waiting_.empty() && waiting_.begin()->first <= Clock::now()) {
        const auto& batch = waiting_.begin()->second;
        for (std::uint32_t i = 0; i < batch.size(); ++i) batch.answer(i, laneway::Answer::done());
        waiting_.erase(waiting_.begin());
      }
    }
  }

  std::mutex mutex_;
  std::multimap<Clock::time_point, laneway::Batch> waiting_;
  std::atomic<bool> ended_{false};
  std::thread thread_{[this] { answer_in_time(); }};  // last: it uses the others
};

}  // namespace

LANEWAY_PLUGIN("late", "1.0", Late)
