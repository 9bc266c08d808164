// The thread on which a Consumer makes the requests that the client library offers only in blocking form.
// Private to this folder.
//
// Questions to the same leader are sent together: an idle leader answers late, because a fetch that waits for
// records goes first. A leader that does not answer delays nobody else for long. A question takes one slice
// of time at most; once a leader was silent, questions to this leader are answered immediately with an error
// for a while. So the other leaders' questions wait for one slice now and then, however many partitions a
// silent leader has.
//
// Threads: the consumer loop makes all calls; `on_answer` runs on the thread of this class. The destructor
// joins that thread and waits for one slice at most (1.5 s; while committed offsets are requested, 1 ms more
// for each of these partitions). Bounded: at most one question and one answer per partition, and the requests
// for committed offsets of the current rebalances.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "kafka/group/consumer.h"

namespace laneway::kafka {

class Inquiries {
 public:
  /// `on_answer` gets Committed and TopicsFound.
  Inquiries(rd_kafka_s* handle, std::function<void(Event)> on_answer);
  ~Inquiries();

  void ask_committed(std::uint64_t request, std::vector<TopicPartition> partitions, Duration timeout)
      EXCLUDES(mutex_);
  void ask_topics() EXCLUDES(mutex_);
  /// Sends a request to the partition's leader, which wakes the client's thread for this leader and asks for
  /// the log's bounds. `find_leader`: first asks any broker who leads the partition now, because the leader
  /// that the client knows may have been replaced without knowing.
  void ask_log(const TopicPartition& partition, bool find_leader) EXCLUDES(mutex_);
  LogAnswer log_answer(const TopicPartition& partition) EXCLUDES(mutex_);
  /// The topic may be made anew before the next question.
  void forget_log(const TopicPartition& partition) EXCLUDES(mutex_);
  /// The number of the broker that the client asks about each partition.
  void set_leaders(std::map<TopicPartition, std::int32_t> leaders) EXCLUDES(mutex_);
  /// Cancels all waiting questions. The thread ends after the current slice.
  void stop() EXCLUDES(mutex_);

 private:
  struct Question {
    std::uint64_t request;
    std::vector<TopicPartition> partitions;
    TimePoint until;
  };
  struct Manner {
    bool find_leader;
    std::size_t together;  ///< The maximum number of partitions of one leader in one request.
  };
  struct LogQuestion {
    std::vector<TopicPartition> partitions;
    std::int32_t leader;
    Manner manner;
  };
  void run() EXCLUDES(mutex_);
  Committed answer(const Question& question) EXCLUDES(mutex_);
  std::vector<CommittedOffset> with_topic_ids(std::vector<CommittedOffset> offsets, TimePoint until)
      EXCLUDES(mutex_);
  TopicsFound find_topics();
  LogQuestion next_log_question() REQUIRES(mutex_);
  bool alike(const TopicPartition& partition, std::int32_t leader, const Manner& manner) const
      REQUIRES(mutex_);
  void answer(const LogQuestion& question) EXCLUDES(mutex_);
  void ask_again(const LogQuestion& question, const Manner& manner) EXCLUDES(mutex_);
  void ask_leader(const LogQuestion& question) EXCLUDES(mutex_);
  std::string silence_of(std::int32_t leader);
  void note(const TopicPartition& partition, LogBounds bounds, std::string error) REQUIRES(mutex_);
  void note_error(const LogQuestion& question, const std::string& error) EXCLUDES(mutex_);
  std::string find_leaders(const std::string& topic) EXCLUDES(mutex_);
  std::int32_t leader_of(const TopicPartition& partition) const REQUIRES(mutex_);
  bool stopping() EXCLUDES(mutex_);
  void pause() EXCLUDES(mutex_);
  std::int32_t known_leader(const TopicPartition& partition) EXCLUDES(mutex_);
  std::int32_t answering_leader(const std::vector<CommittedOffset>& offsets, TimePoint until)
      EXCLUDES(mutex_);

  rd_kafka_s* const handle_;
  const std::function<void(Event)> on_answer_;
  Mutex mutex_;
  Condition changed_;
  std::deque<Question> questions_ GUARDED_BY(mutex_);
  bool topics_asked_ GUARDED_BY(mutex_) = false;
  std::deque<TopicPartition> log_questions_ GUARDED_BY(mutex_);
  std::map<TopicPartition, Manner> asked_ GUARDED_BY(mutex_);  // for the partitions of log_questions_
  std::map<TopicPartition, std::int32_t> leaders_ GUARDED_BY(mutex_);
  std::map<TopicPartition, LogAnswer> log_answers_ GUARDED_BY(mutex_);
  bool stop_ GUARDED_BY(mutex_) = false;
  // Used only by the thread of this class
  struct Search {
    TimePoint at;
    std::string error;
  };
  std::map<std::string, Search> searches_;          // the last search for the leaders of a topic
  std::map<std::int32_t, TimePoint> silent_until_;  // leaders
  std::thread thread_;
};

}  // namespace laneway::kafka
