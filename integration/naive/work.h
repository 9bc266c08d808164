// A bounded pool of threads as articles describe it, work that only sleeps, and a journal in laneway's
// format.
#pragma once

#include <librdkafka/rdkafka.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace naive {

struct MessageDestroyer {
  void operator()(rd_kafka_message_t* message) const { rd_kafka_message_destroy(message); }
};
using Message = std::unique_ptr<rd_kafka_message_t, MessageDestroyer>;

/// A line of JSON for each finished record, written at once, so that a kill -9 hides nothing. Thread-safe.
class Journal {
 public:
  explicit Journal(const std::string& file);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Times are ns since 1970.
  void success(const rd_kafka_message_t& message, std::int64_t start, std::int64_t end) const;

 private:
  int descriptor_;
};

/// Log-normal sleeps with this median and 99th percentile; p99 0: always the median.
struct Sleep {
  double p50_ms = 8;
  double p99_ms = 0;
};

/// N threads and a queue with a bound. submit() may be called by one thread, and never blocks.
class Pool {
 public:
  Pool(std::size_t workers, std::size_t queue, Sleep sleep, const Journal& journal);
  /// Finishes what is queued.
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// False if the queue is full; the message then still belongs to the caller.
  bool submit(Message& message);

 private:
  void work(unsigned seed);

  const std::size_t queue_;
  const Sleep sleep_;
  const Journal& journal_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Message> waiting_;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace naive
