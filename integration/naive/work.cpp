#include "work.h"

#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <random>
#include <stdexcept>

namespace naive {

namespace {

std::int64_t wall_clock() {
  return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

Journal::Journal(const std::string& file)
    : descriptor_(open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) throw std::runtime_error(file + " cannot be written");
}

Journal::~Journal() { close(descriptor_); }

void Journal::success(const rd_kafka_message_t& message, std::int64_t start, std::int64_t end) const {
  const std::string line = std::string(R"({"topic":")") + rd_kafka_topic_name(message.rkt) +
                           R"(","partition":)" + std::to_string(message.partition) + R"(,"offset":)" +
                           std::to_string(message.offset) + R"(,"epoch":1,"attempt":1,"start":)" +
                           std::to_string(start) + R"(,"end":)" + std::to_string(end) +
                           R"(,"outcome":"success","key":null})" + "\n";
  if (write(descriptor_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::runtime_error("the journal cannot be written");
}

Pool::Pool(std::size_t workers, std::size_t queue, Sleep sleep, const Journal& journal)
    : queue_(queue), sleep_(sleep), journal_(journal) {
  for (std::size_t i = 0; i < workers; ++i)
    threads_.emplace_back([this, i] { work(static_cast<unsigned>(i)); });
}

Pool::~Pool() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  ready_.notify_all();
  for (auto& thread : threads_) thread.join();
}

bool Pool::submit(Message& message) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= queue_) return false;
    waiting_.push_back(std::move(message));
  }
  ready_.notify_one();
  return true;
}

void Pool::work(unsigned seed) {
  std::mt19937 random(seed + 1);
  const double spread = sleep_.p99_ms > 0 ? std::log(sleep_.p99_ms / sleep_.p50_ms) / 2.3263478740408408 : 0;
  std::lognormal_distribution<double> time_ms(std::log(sleep_.p50_ms), spread);
  for (;;) {
    Message message;
    {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      message = std::move(waiting_.front());
      waiting_.pop_front();
    }
    const auto start = wall_clock();
    std::this_thread::sleep_for(
        std::chrono::duration<double, std::milli>(spread > 0 ? time_ms(random) : sleep_.p50_ms));
    journal_.success(*message, start, wall_clock());
  }
}

}  // namespace naive
