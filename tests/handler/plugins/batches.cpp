// Answers batches in the ways that records' values name, at once or on a thread of its own.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "laneway/plugin.hpp"

namespace {

class Batches final : public laneway::BatchPlugin {
 public:
  Batches(laneway::Host, std::string_view) : thread_([this] { work(); }) {}
  ~Batches() override {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  std::uint32_t most_per_batch() const override { return 4; }

  void submit(laneway::Batch batch) override {
    const auto first = batch.record(0).value();
    if (first == "throw") throw std::runtime_error("no room");
    if (first == "drop") return;
    if (first == "now") return answer(std::move(batch));
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(batch));
    }
    changed_.notify_one();
  }

 private:
  /// From the last to the first, unless the order matters.
  void answer(laneway::Batch batch) {
    const auto size = batch.size();
    for (std::uint32_t i = 0; i < size; ++i) {
      const auto index = batch.in_order() ? i : size - 1 - i;
      const auto record = batch.record(index);
      const auto value = std::string(record.value().value_or(""));
      if (value == "hang")
        while (!record.wait(std::chrono::milliseconds(10000))) {
        }
      if (value == "now") record.add_result("at once", std::to_string(record.offset()));
      const bool done = value == "now" || value == "later" || value == "twice";
      count(batch.answer(index,
                         done ? laneway::Answer::done() : laneway::Answer::retry(value + report(value))));
      if (value == "twice") count(batch.answer(index, laneway::Answer::reject("again")));
      if (!done && batch.in_order()) return;
    }
  }

  void count(bool taken) { refused_ += taken ? 0 : 1; }
  std::string report(const std::string& value) const {
    return value == "report" ? std::to_string(refused_.load()) : "";
  }

  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ended_ || !queue_.empty(); });
      if (queue_.empty()) return;
      auto batch = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      answer(std::move(batch));
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<laneway::Batch> queue_;
  bool ended_ = false;
  std::atomic<int> refused_{0};
  std::thread thread_;
};

}  // namespace

LANEWAY_PLUGIN("batches", "1.0", Batches)
