#include "kafka/group/inquiries.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "kafka/client/handle.h"
#include "kafka/group/topic_ids.h"

namespace laneway::kafka {
namespace {

constexpr Duration one_request = milliseconds(500);
/// Each repeated request waits twice as long as the previous one, up to the time that a stop allows. An
/// answer that comes after its request was given up is lost, so a coordinator that always takes longer would
/// otherwise never be heard.
constexpr Duration longest_request = milliseconds(1500);
/// Added for each partition whose committed offset is requested: the client and the coordinator need longer
/// for an answer about thousands of partitions, and requests that are given up keep both busy.
constexpr Duration one_partition = milliseconds(1);
/// A leader that was silent is not asked again for this long.
constexpr Duration silence = seconds(2);
/// The leaders of a topic are not looked up more often than this.
constexpr Duration search_interval = seconds(1);
constexpr std::int32_t no_leader = -1;
/// The client scans all of these partitions for each of them.
constexpr std::size_t most_together = 500;

/// Also checks the error of a single partition: while a transaction is under way, a partition's offset is not
/// known yet, and must not be treated as missing.
rd_kafka_resp_err_t error_of(rd_kafka_resp_err_t code, const rd_kafka_topic_partition_list_t& list) {
  for (int i = 0; code == RD_KAFKA_RESP_ERR_NO_ERROR && i < list.cnt; ++i) code = list.elems[i].err;
  return code;
}

/// The client takes over what the answer contains about leaders, and chooses which broker to ask.
rd_kafka_resp_err_t ask_leaders(rd_kafka_t* handle, const std::string& name, MetadataPtr& metadata) {
  const TopicPtr topic(rd_kafka_topic_new(handle, name.c_str(), nullptr));
  if (!topic) return rd_kafka_last_error();
  const rd_kafka_metadata_t* answer = nullptr;
  const auto code = rd_kafka_metadata(handle, 0, topic.get(), &answer, to_ms(one_request));
  metadata.reset(answer);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return code;
  return metadata->topic_cnt == 1 ? metadata->topics[0].err : RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
}

/// `which`: RD_KAFKA_OFFSET_BEGINNING or _END. rd_kafka_query_watermark_offsets is not suitable: before 2.3.0
/// it waits for a silent leader for as long as a connection may take (socket.timeout.ms, one minute).
rd_kafka_resp_err_t ask_bounds(rd_kafka_t* handle, rd_kafka_topic_partition_list_t& list, std::int64_t which,
                               Duration slice) {
  for (int i = 0; i < list.cnt; ++i) list.elems[i].offset = which;
  return rd_kafka_offsets_for_times(handle, &list, to_ms(slice));
}

rd_kafka_resp_err_t error_of(const rd_kafka_topic_partition_t& bound) {
  if (bound.err != RD_KAFKA_RESP_ERR_NO_ERROR) return bound.err;
  return bound.offset < 0 ? RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE : RD_KAFKA_RESP_ERR_NO_ERROR;
}

bool is_silence(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR__TIMED_OUT || code == RD_KAFKA_RESP_ERR__TRANSPORT ||
         code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN;
}

}  // namespace

Inquiries::Inquiries(rd_kafka_s* handle, std::function<void(Event)> on_answer)
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

void Inquiries::ask_topics() {
  {
    MutexLock lock(mutex_);
    topics_asked_ = true;
  }
  changed_.notify_all();
}

void Inquiries::ask_log(const TopicPartition& partition, bool find_leader) {
  {
    MutexLock lock(mutex_);
    const auto [question, is_new] = asked_.emplace(partition, Manner{find_leader, most_together});
    auto& manner = question->second;
    manner.find_leader = manner.find_leader || find_leader;
    if (!is_new) return;
    log_questions_.push_back(partition);
  }
  changed_.notify_all();
}

void Inquiries::set_leaders(std::map<TopicPartition, std::int32_t> leaders) {
  MutexLock lock(mutex_);
  leaders_ = std::move(leaders);
}

std::int32_t Inquiries::leader_of(const TopicPartition& partition) const {
  const auto found = leaders_.find(partition);
  return found == leaders_.end() ? no_leader : found->second;
}

bool Inquiries::alike(const TopicPartition& partition, std::int32_t leader, const Manner& manner) const {
  const auto& other = asked_.at(partition);
  return !other.find_leader && other.together == manner.together && leader_of(partition) == leader;
}

/// The first waiting question, together with those to the same leader if the leader is known.
Inquiries::LogQuestion Inquiries::next_log_question() {
  const auto first = asked_.extract(log_questions_.front());
  log_questions_.pop_front();
  LogQuestion question{{first.key()}, leader_of(first.key()), first.mapped()};
  const auto& manner = question.manner;
  if (manner.find_leader || question.leader == no_leader) return question;
  std::deque<TopicPartition> others;
  for (auto& partition : log_questions_) {
    if (question.partitions.size() < manner.together && alike(partition, question.leader, manner)) {
      asked_.erase(partition);
      question.partitions.push_back(std::move(partition));
    } else {
      others.push_back(std::move(partition));
    }
  }
  log_questions_ = std::move(others);
  return question;
}

void Inquiries::run() {
  for (;;) {
    std::optional<Question> question;
    std::optional<LogQuestion> log_question;
    bool topics_asked = false;
    {
      MutexLock lock(mutex_);
      while (!stop_ && questions_.empty() && log_questions_.empty() && !topics_asked_) changed_.wait(mutex_);
      if (stop_) return;
      if (!questions_.empty()) {
        question = std::move(questions_.front());
        questions_.pop_front();
      } else if (!log_questions_.empty()) {
        log_question = next_log_question();
      } else {
        topics_asked = std::exchange(topics_asked_, false);
      }
    }
    if (question) on_answer_(answer(*question));
    if (log_question) answer(*log_question);
    if (topics_asked) on_answer_(find_topics());
  }
}

void Inquiries::answer(const LogQuestion& question) {
  if (!question.manner.find_leader) return ask_leader(question);
  const auto error = find_leaders(question.partitions.front().topic);
  if (!error.empty()) return note_error(question, error);
  ask_again(question, {false, most_together});
}

/// Puts the questions behind all waiting questions.
void Inquiries::ask_again(const LogQuestion& question, const Manner& manner) {
  MutexLock lock(mutex_);
  for (const auto& partition : question.partitions)
    if (asked_.emplace(partition, manner).second) log_questions_.push_back(partition);
}

void Inquiries::note(const TopicPartition& partition, LogBounds bounds, std::string error) {
  auto& answer = log_answers_[partition];
  ++answer.number;
  if (error.empty()) answer.bounds = bounds;
  answer.error = std::move(error);
}

void Inquiries::note_error(const LogQuestion& question, const std::string& error) {
  MutexLock lock(mutex_);
  for (const auto& partition : question.partitions) note(partition, {}, error);
}

/// Why the leader is not asked; empty if it may be asked.
std::string Inquiries::silence_of(std::int32_t leader) {
  const auto silent = silent_until_.find(leader);
  if (silent == silent_until_.end()) return {};
  if (SteadyClock::now() < silent->second) return "broker " + std::to_string(leader) + " does not answer";
  silent_until_.erase(silent);
  return {};
}

/// If a leader refuses the whole question because of one partition, half of the partitions are asked about
/// next.
void Inquiries::ask_leader(const LogQuestion& question) {
  if (const auto silent = silence_of(question.leader); !silent.empty()) return note_error(question, silent);
  const auto deadline = Deadline::in(longest_request);
  const ListPtr ends = to_list(question.partitions);
  const ListPtr starts = to_list(question.partitions);
  auto code = ask_bounds(handle_, *ends, RD_KAFKA_OFFSET_END, deadline.left());
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
    code = ask_bounds(handle_, *starts, RD_KAFKA_OFFSET_BEGINNING, deadline.left());
  if (is_silence(code)) {
    if (question.leader != no_leader) silent_until_[question.leader] = SteadyClock::now() + silence;
  } else if (code != RD_KAFKA_RESP_ERR_NO_ERROR && question.partitions.size() > 1) {
    return ask_again(question, {false, question.partitions.size() / 2});
  }
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return note_error(question, error_text(code));
  MutexLock lock(mutex_);
  for (std::size_t i = 0; i < question.partitions.size(); ++i) {
    auto refused = error_of(ends->elems[i]);
    if (refused == RD_KAFKA_RESP_ERR_NO_ERROR) refused = error_of(starts->elems[i]);
    note(question.partitions[i], {starts->elems[i].offset, ends->elems[i].offset},
         refused == RD_KAFKA_RESP_ERR_NO_ERROR ? std::string() : error_text(refused));
  }
}

/// Looks up the leaders at any broker.
std::string Inquiries::find_leaders(const std::string& topic) {
  auto& last = searches_[topic];
  const auto now = SteadyClock::now();
  if (last.at != TimePoint{} && now < last.at + search_interval) return last.error;
  MetadataPtr metadata;
  const auto code = ask_leaders(handle_, topic, metadata);
  last = {now, code == RD_KAFKA_RESP_ERR_NO_ERROR ? std::string() : error_text(code)};
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return last.error;
  MutexLock lock(mutex_);
  const auto& found = metadata->topics[0];
  for (int i = 0; i < found.partition_cnt; ++i)
    leaders_[{topic, found.partitions[i].id}] = found.partitions[i].leader;
  return {};
}

TopicsFound Inquiries::find_topics() {
  const rd_kafka_metadata_t* raw = nullptr;
  const auto code = rd_kafka_metadata(handle_, 1, nullptr, &raw, to_ms(longest_request));
  const MetadataPtr metadata(raw);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return {{}, error_text(code)};
  TopicsFound found;
  for (const auto* topic = metadata->topics; topic != metadata->topics + metadata->topic_cnt; ++topic)
    if (topic->err == RD_KAFKA_RESP_ERR_NO_ERROR) found.topics.emplace_back(topic->topic);
  return found;
}

LogAnswer Inquiries::log_answer(const TopicPartition& partition) {
  MutexLock lock(mutex_);
  const auto found = log_answers_.find(partition);
  return found == log_answers_.end() ? LogAnswer{} : found->second;
}

void Inquiries::forget_log(const TopicPartition& partition) {
  MutexLock lock(mutex_);
  log_answers_.erase(partition);
}

void Inquiries::pause() {
  MutexLock lock(mutex_);
  if (!stop_) changed_.wait_until(mutex_, SteadyClock::now() + milliseconds(100));
}

/// Asks one leader after the other, and then the controller, until one answers. A broker that has just
/// started may not know all topics. Without metadata, nothing depends on the ids at once. Ids that stay
/// unknown cost a completion map (lane::own_start); the group must not wait for them.
std::vector<CommittedOffset> Inquiries::with_topic_ids(std::vector<CommittedOffset> offsets,
                                                       TimePoint until) {
  std::set<std::string> topics;
  for (const auto& offset : offsets) topics.insert(offset.partition.topic);
  const bool needed = std::any_of(offsets.begin(), offsets.end(),
                                  [](const auto& offset) { return !offset.metadata.empty(); });
  TopicIds found{{}, RD_KAFKA_RESP_ERR__TIMED_OUT};
  const auto again = [&] {
    return is_silence(found.error) || (needed && found.error != RD_KAFKA_RESP_ERR_NO_ERROR);
  };
  for (bool first = true; again() && !offsets.empty(); first = false) {
    if (!first && (stopping() || SteadyClock::now() >= until)) break;
    if (!first) pause();
    const auto leader = answering_leader(offsets, until);
    found = topic_ids(handle_, topics, leader, 2 * one_request);
    if (is_silence(found.error) && leader != no_leader) silent_until_[leader] = SteadyClock::now() + silence;
  }
  for (auto& offset : offsets)
    if (const auto id = found.ids.find(offset.partition.topic); id != found.ids.end())
      offset.topic_id = id->second;
  return offsets;
}

/// Asks for the leaders if they are not known.
std::int32_t Inquiries::known_leader(const TopicPartition& partition) {
  const auto known = [&] {
    MutexLock lock(mutex_);
    return leader_of(partition);
  };
  if (const auto leader = known(); leader != no_leader) return leader;
  (void)find_leaders(partition.topic);
  return known();
}

/// A leader that was not silent of late. If there is none, looks for the leaders again: those that are known
/// may have been replaced.
std::int32_t Inquiries::answering_leader(const std::vector<CommittedOffset>& offsets, TimePoint until) {
  for (const bool again : {false, true}) {
    for (const auto& offset : offsets) {
      if (again) (void)find_leaders(offset.partition.topic);
      const auto leader = known_leader(offset.partition);
      if (leader != no_leader && silence_of(leader).empty()) return leader;
      if (stopping() || SteadyClock::now() >= until) return no_leader;  // looking for each can take long
    }
  }
  return no_leader;
}

Committed Inquiries::answer(const Question& question) {
  const ListPtr list = to_list(question.partitions);
  const Duration longest = longest_request + question.partitions.size() * one_partition;
  for (Duration share = longest / 3;; share = std::min(2 * share, longest)) {
    const auto answer = rd_kafka_committed(handle_, list.get(), to_ms(share));
    const auto code = error_of(answer, *list);
    const bool known = code == RD_KAFKA_RESP_ERR_NO_ERROR;
    const bool last = stopping() || SteadyClock::now() >= question.until;
    if (last && answer != RD_KAFKA_RESP_ERR_NO_ERROR) return {question.request, {}, error_text(code), false};
    if (known || last)
      return {question.request, with_topic_ids(committed_offsets(*list), question.until),
              known ? "" : error_text(code), true};
    if (code != RD_KAFKA_RESP_ERR__TIMED_OUT) pause();  // the answer came at once: avoid a busy loop
  }
}

}  // namespace laneway::kafka
