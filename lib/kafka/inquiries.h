// The thread on which a Consumer makes the requests that the client library offers only in blocking form.
// Private to this folder.
//
// Threads: ask_committed and ask_log come from the consumer loop; answers are handed to `on_answer` on the
// thread of this class. Each request is made in slices, so that the destructor (which joins) waits for one
// slice at most (1.5 s). Bounded: at most one question and one answer per partition, and the committed
// requests of rebalances under way are waiting.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "base/fair_turn.h"
#include "base/mutex.h"
#include "kafka/consumer.h"

namespace laneway::kafka {

class Inquiries {
 public:
  Inquiries(rd_kafka_s* handle, std::function<void(Committed)> on_answer);
  ~Inquiries();

  void ask_committed(std::uint64_t request, std::vector<TopicPartition> partitions, Duration timeout)
      EXCLUDES(mutex_);
  /// A request to the partition's leader: that wakes the client's thread for it, and asks for the log's
  /// bounds. `find_leader`: some broker is asked first who leads the partition now, because the leader that
  /// the client knows may have been replaced without knowing.
  void ask_log(const TopicPartition& partition, bool find_leader) EXCLUDES(mutex_);
  LogAnswer log_answer(const TopicPartition& partition) EXCLUDES(mutex_);
  /// Cancels what is waiting; the thread ends after the slice under way.
  void stop() EXCLUDES(mutex_);

 private:
  struct Question {
    std::uint64_t request;
    std::vector<TopicPartition> partitions;
    TimePoint until;
  };
  void run() EXCLUDES(mutex_);
  Committed answer(const Question& question) EXCLUDES(mutex_);
  void ask_leader(const TopicPartition& partition, bool find_leader) EXCLUDES(mutex_);
  bool stopping() EXCLUDES(mutex_);

  rd_kafka_s* const handle_;
  const std::function<void(Committed)> on_answer_;
  Mutex mutex_;
  Condition changed_;
  std::deque<Question> questions_ GUARDED_BY(mutex_);
  // In turn: a leader that is down costs a slice, and the others are not kept waiting by its next one.
  FairTurn<TopicPartition> log_questions_ GUARDED_BY(mutex_){Duration::max()};
  std::set<TopicPartition> find_leaders_ GUARDED_BY(mutex_);  // of those questions
  std::map<TopicPartition, LogAnswer> log_answers_ GUARDED_BY(mutex_);
  bool stop_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace laneway::kafka
