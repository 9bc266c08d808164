#include "kafka/inquiries.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <optional>

#include "kafka/handle.h"

namespace laneway::kafka {
namespace {

constexpr Duration one_request = milliseconds(500);
/// Each request for the same waits twice as long as the one before, up to what a stop has time for: an answer
/// that comes after its request was given up is lost, so a coordinator that always takes longer would never
/// be heard.
constexpr Duration longest_request = milliseconds(1500);

/// Also that of a single partition: the offset of one whose transaction is under way is not known yet, and
/// must not be taken for none.
rd_kafka_resp_err_t error_of(rd_kafka_resp_err_t code, const rd_kafka_topic_partition_list_t& list) {
  for (int i = 0; code == RD_KAFKA_RESP_ERR_NO_ERROR && i < list.cnt; ++i) code = list.elems[i].err;
  return code;
}

}  // namespace

Inquiries::Inquiries(rd_kafka_s* handle, std::function<void(Committed)> on_answer)
    : handle_(handle), on_answer_(std::move(on_answer)), thread_([this] { run(); }) {}

Inquiries::~Inquiries() {
  stop();
  thread_.join();
}

void Inquiries::stop() {
  {
    MutexLock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
}

bool Inquiries::stopping() {
  MutexLock lock(mutex_);
  return stop_;
}

void Inquiries::ask_committed(std::uint64_t request, std::vector<TopicPartition> partitions,
                              Duration timeout) {
  {
    MutexLock lock(mutex_);
    questions_.push_back({request, std::move(partitions), SteadyClock::now() + timeout});
  }
  changed_.notify_all();
}

void Inquiries::wake(const TopicPartition& partition) {
  {
    MutexLock lock(mutex_);
    if (wakes_.takes_part(partition)) return;
    wakes_.ask(partition, SteadyClock::now());
  }
  changed_.notify_all();
}

void Inquiries::run() {
  for (;;) {
    std::optional<Question> question;
    std::optional<TopicPartition> wake;
    {
      MutexLock lock(mutex_);
      while (!stop_ && questions_.empty() && wakes_.size() == 0) changed_.wait(mutex_);
      if (stop_) return;
      if (!questions_.empty()) {
        question = std::move(questions_.front());
        questions_.pop_front();
      } else {
        wake = wakes_.first(SteadyClock::now());
        wakes_.leave(*wake);
      }
    }
    if (question) on_answer_(answer(*question));
    if (wake) ask_leader(*wake);
  }
}

void Inquiries::ask_leader(const TopicPartition& partition) {
  std::int64_t low = 0;
  std::int64_t high = 0;
  const auto code = rd_kafka_query_watermark_offsets(handle_, partition.topic.c_str(), partition.partition,
                                                     &low, &high, to_ms(one_request));
  MutexLock lock(mutex_);
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) log_ends_[partition] = high;
}

std::int64_t Inquiries::log_end(const TopicPartition& partition) {
  MutexLock lock(mutex_);
  const auto found = log_ends_.find(partition);
  return found == log_ends_.end() ? no_offset : found->second;
}

Committed Inquiries::answer(const Question& question) {
  const ListPtr list = to_list(question.partitions);
  for (Duration share = one_request;; share = std::min(2 * share, longest_request)) {
    const auto answer = rd_kafka_committed(handle_, list.get(), to_ms(share));
    const auto code = error_of(answer, *list);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {question.request, committed_offsets(*list), {}, true};
    if (stopping() || SteadyClock::now() >= question.until)
      return {question.request, {}, error_text(code), answer == RD_KAFKA_RESP_ERR_NO_ERROR};
    if (code != RD_KAFKA_RESP_ERR__TIMED_OUT) {  // an answer that came at once: do not spin
      MutexLock lock(mutex_);
      changed_.wait_until(mutex_, SteadyClock::now() + milliseconds(100));
    }
  }
}

}  // namespace laneway::kafka
