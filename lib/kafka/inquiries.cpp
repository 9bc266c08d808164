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

struct TopicDeleter {
  void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
};

/// The client takes over what the answer says about leaders. The client chooses which broker it asks.
rd_kafka_resp_err_t refresh_leaders(rd_kafka_t* handle, const std::string& name) {
  const std::unique_ptr<rd_kafka_topic_t, TopicDeleter> topic(
      rd_kafka_topic_new(handle, name.c_str(), nullptr));
  if (!topic) return rd_kafka_last_error();
  const rd_kafka_metadata_t* answer = nullptr;
  const auto code = rd_kafka_metadata(handle, 0, topic.get(), &answer, to_ms(one_request));
  const MetadataPtr metadata(answer);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR || metadata->topic_cnt != 1) return code;
  return metadata->topics[0].err;
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

void Inquiries::ask_log(const TopicPartition& partition, bool find_leader) {
  {
    MutexLock lock(mutex_);
    if (find_leader) find_leaders_.insert(partition);
    if (log_questions_.takes_part(partition)) return;
    log_questions_.ask(partition, SteadyClock::now());
  }
  changed_.notify_all();
}

void Inquiries::run() {
  for (;;) {
    std::optional<Question> question;
    std::optional<TopicPartition> log_question;
    bool find_leader = false;
    {
      MutexLock lock(mutex_);
      while (!stop_ && questions_.empty() && log_questions_.size() == 0) changed_.wait(mutex_);
      if (stop_) return;
      if (!questions_.empty()) {
        question = std::move(questions_.front());
        questions_.pop_front();
      } else {
        log_question = log_questions_.first(SteadyClock::now());
        log_questions_.leave(*log_question);
        find_leader = find_leaders_.erase(*log_question) > 0;
      }
    }
    if (question) on_answer_(answer(*question));
    if (log_question) ask_leader(*log_question, find_leader);
  }
}

void Inquiries::ask_leader(const TopicPartition& partition, bool find_leader) {
  auto code = find_leader ? refresh_leaders(handle_, partition.topic) : RD_KAFKA_RESP_ERR_NO_ERROR;
  LogBounds bounds;
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
    code = rd_kafka_query_watermark_offsets(handle_, partition.topic.c_str(), partition.partition,
                                            &bounds.start, &bounds.end, to_ms(one_request));
  MutexLock lock(mutex_);
  auto& answer = log_answers_[partition];
  ++answer.number;
  answer.error = code == RD_KAFKA_RESP_ERR_NO_ERROR ? std::string() : error_text(code);
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) answer.bounds = bounds;
}

LogAnswer Inquiries::log_answer(const TopicPartition& partition) {
  MutexLock lock(mutex_);
  const auto found = log_answers_.find(partition);
  return found == log_answers_.end() ? LogAnswer{} : found->second;
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
