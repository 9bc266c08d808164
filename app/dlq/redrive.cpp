#include "app/dlq/redrive.h"

#include <algorithm>
#include <thread>
#include <unordered_map>
#include <utility>

#include "app/dlq/map_room.h"
#include "app/dlq/progress.h"
#include "app/dlq/sent_back.h"
#include "base/mutex.h"
#include "handler/forward/header_lists.h"
#include "kafka/produce/producer.h"
#include "lane/ledger/ledger.h"

namespace laneway::dlq {
namespace {

constexpr std::size_t most_in_flight = 1000;
constexpr std::size_t most_bytes_in_flight = 32U << 20;
constexpr Duration commit_interval = seconds(1);
constexpr Duration breath = milliseconds(50);  // the longest wait before the loop looks at its other work

/// Answers of the producer, which arrive on the producer's thread.
class Answers {
 public:
  struct Answer {
    lane::Sequence sequence;
    kafka::Delivery delivery;
  };
  void add(Answer answer) EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      answers_.push_back(std::move(answer));
    }
    came_.notify_all();
  }
  /// Returns the answers that have arrived; waits for the first until `until`.
  std::vector<Answer> take(TimePoint until) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (answers_.empty() && SteadyClock::now() < until) came_.wait_until(mutex_, until);
    return std::exchange(answers_, {});
  }

 private:
  Mutex mutex_;
  Condition came_;
  std::vector<Answer> answers_ GUARDED_BY(mutex_);
};

/// A record that was given to the producer.
struct Sending : kafka::DeliverySink {
  Sending(Answers& a, lane::Sequence s, std::string t, std::size_t b)
      : answers(a), sequence(s), topic(std::move(t)), bytes(b) {}
  void delivered(const kafka::Delivery& delivery) noexcept override { answers.add({sequence, delivery}); }

  Answers& answers;
  const lane::Sequence sequence;
  const std::string topic;
  const std::size_t bytes;
};

class Redrive {
 public:
  Redrive(const config::Config& config, Letters& letters, const Options& options, const Targets& targets,
          const std::atomic<bool>& stop)
      : config_(config), letters_(letters), options_(options), targets_(targets), stop_(stop) {}
  ~Redrive() { producer_.reset(); }  // answers the records in flight, which are destroyed later

  Summary run() {
    if (auto ended = run_all(); !ended && !summary_.error) summary_.error = ended.error();
    if (!summary_.error) summary_.error = refusal_;
    return std::move(summary_);
  }

 private:
  struct Work {
    kafka::PartitionSpan span;
    lane::CompletionMap done;
  };

  Status run_all();
  Status prepare_to_send();
  Result<std::vector<Work>> plan();
  Status run_partition(const Work& work, Progress& progress);
  Status take_letter(Progress& progress);
  void decide(Letter letter);
  bool send();
  void take_answers(TimePoint until);
  void fail(const std::string& topic, const kafka::Delivery& delivery);
  bool may_send();
  Status finish();
  Status commit();
  lane::StoredCommit position() const;
  bool stopped();

  struct Waiting {
    Letter letter;
    Destination to;
    lane::Sequence sequence;
  };

  const config::Config& config_;
  Letters& letters_;
  const Options& options_;
  const Targets& targets_;
  const std::atomic<bool>& stop_;
  Summary summary_;
  std::optional<Error> refusal_;  // of the first record that Kafka did not accept
  std::uint64_t passed_ = 0;      // offsets of spans that are done
  std::uint64_t sent_ = 0;

  // State of the present partition.
  kafka::PartitionSpan span_;
  lane::Ledger ledger_;
  MapRoom room_;
  std::optional<Waiting> waiting_;  // for its turn, or for the producer
  std::int64_t position_ = 0;
  bool at_end_ = false;
  lane::StoredCommit committed_;
  TimePoint next_commit_;

  TimePoint next_send_;  // by the rate
  Answers answers_;
  std::unordered_map<lane::Sequence, std::unique_ptr<Sending>> in_flight_;
  std::size_t bytes_in_flight_ = 0;
  // Null in a dry run.
  std::unique_ptr<kafka::GroupClaim> claim_;
  std::unique_ptr<kafka::Producer> producer_;
};

Status Redrive::run_all() {
  if (options_.yes) {
    if (auto prepared = prepare_to_send(); !prepared) return prepared;
    if (!claim_) {
      summary_.interrupted = stop_.load();
      summary_.taken_over = !summary_.interrupted;
      return {};
    }
  }
  const auto works = plan();  // with the claim: no other process commits
  if (!works) return works.error();
  std::uint64_t all = 0;
  for (const Work& work : *works) all += static_cast<std::uint64_t>(work.span.end - work.span.begin);
  Progress progress(all);
  for (const Work& work : *works) {
    if (auto done = run_partition(work, progress); !done) return done;
    if (stopped()) break;
    passed_ += static_cast<std::uint64_t>(work.span.end - work.span.begin);
  }
  summary_.interrupted = stop_.load();
  return {};
}

Status Redrive::prepare_to_send() {
  auto claim = letters_.claim(stop_);
  if (!claim) return claim.error();
  claim_ = std::move(claim).value();
  auto producer = kafka::Producer::create({.client = kafka::producer_client(config_.kafka)});
  if (!producer) return producer.error();
  producer_ = std::move(producer).value();
  return {};
}

bool Redrive::stopped() {
  if (claim_ && !claim_->held()) summary_.taken_over = true;
  return stop_.load() || summary_.taken_over || summary_.error.has_value();
}

/// The letters to look at: from the commits of the group to the present ends.
Result<std::vector<Redrive::Work>> Redrive::plan() {
  const auto committed = letters_.committed();
  if (!committed) return committed.error();
  std::vector<Work> works;
  for (const auto& before : *committed) {
    auto span = letters_.span(before.partition);
    if (!span) return span.error();
    auto done = sent_back_of(before, *span);
    if (options_.yes) span->begin = std::max(span->begin, done.base);  // a dry run counts all letters
    if (span->begin < span->end) works.push_back({*span, std::move(done)});
  }
  return works;
}

Status Redrive::run_partition(const Work& work, Progress& progress) {
  span_ = work.span;
  ledger_ = lane::Ledger(work.done);
  room_ = {};
  position_ = span_.begin;
  at_end_ = false;
  committed_ = position();
  next_commit_ = SteadyClock::now() + commit_interval;
  if (auto started = letters_.start(span_); !started) return started;
  while (!stopped() && (!at_end_ || waiting_)) {
    if (auto taken = take_letter(progress); !taken) {
      summary_.error = taken.error();  // records in flight are still finished
      break;
    }
    if (SteadyClock::now() >= next_commit_)
      if (auto done = commit(); !done) summary_.error = done.error();
  }
  return finish();
}

/// Reads the next letter, or tries again to send the waiting letter.
Status Redrive::take_letter(Progress& progress) {
  progress.show(passed_ + static_cast<std::uint64_t>(position_ - span_.begin), sent_);
  if (waiting_) {
    if (!may_send() || !send()) return {};
    waiting_.reset();
    if (options_.rate > 0) {
      const auto last = std::max(next_send_, SteadyClock::now() - breath);  // no burst after a pause
      next_send_ = last + from_seconds(1 / options_.rate);
    }
    return {};
  }
  take_answers({});
  auto next = letters_.next(Deadline::in(breath));
  if (!next) return next.error();
  at_end_ = next->at_end;
  if (next->letter && next->letter->record.offset() < committed_.offset) {
    position_ = next->letter->record.offset() + 1;
    ++summary_.sent_before;
  } else if (next->letter && !ledger_.would_go_back(next->letter->record.offset())) {
    position_ = next->letter->record.offset() + 1;
    decide(std::move(*next->letter));
  }
  if (at_end_) ledger_.reached(span_.end);
  return {};
}

void Redrive::decide(Letter letter) {
  const auto offset = letter.record.offset();
  const bool before = ledger_.completed_before(offset);
  const auto sequence = ledger_.append(offset);
  if (before) {
    room_.sent(offset);
    ledger_.complete(sequence);
    ++summary_.sent_before;
    return;
  }
  auto judgement = judge(letter, options_, targets_);
  if (judgement.to && !room_.has_room_for(offset))
    judgement = {{},
                 "cannot be tracked: the commit metadata is full; redrive without filters, or one "
                 "--partition at a time"};
  if (!judgement.to) {
    room_.left(offset);
    ++summary_.left[judgement.left];
    return;
  }
  room_.sent(offset);
  if (producer_)
    waiting_ = Waiting{std::move(letter), std::move(*judgement.to), sequence};
  else
    ++summary_.sent[judgement.to->topic];
}

/// Waits a little if it is not yet time to send.
bool Redrive::may_send() {
  const bool full = in_flight_.size() >= most_in_flight || bytes_in_flight_ >= most_bytes_in_flight;
  const auto now = SteadyClock::now();
  const auto until = std::min(now + breath, full ? TimePoint::max() : next_send_);
  take_answers(until);
  if (!full && now < next_send_) std::this_thread::sleep_until(until);
  return !full && SteadyClock::now() >= next_send_;
}

/// Returns false if the producer is full.
bool Redrive::send() {
  const auto& record = waiting_->letter.record;
  const auto& about = *waiting_->letter.description;
  const auto headers = delivery::redriven_headers(waiting_->letter.headers, about.redrives + 1);
  const auto views = handler::views_of(headers);
  const auto timestamp = options_.present_time ? kafka::now_timestamp : timestamp_of(waiting_->letter);
  auto sending = std::make_unique<Sending>(answers_, waiting_->sequence, waiting_->to.topic, record.size());
  const auto result = producer_->send({.topic = waiting_->to.topic,
                                       .partition = waiting_->to.partition,
                                       .key = record.raw_key(),
                                       .value = record.raw_value(),
                                       .headers = views,
                                       .timestamp = std::max<std::int64_t>(timestamp, kafka::now_timestamp)},
                                      sending.get());
  if (result.sent == kafka::Sent::full) {
    take_answers(SteadyClock::now() + breath);
    return false;
  }
  if (result.sent == kafka::Sent::refused) {
    fail(waiting_->to.topic, result.refusal);
    return true;
  }
  bytes_in_flight_ += sending->bytes;
  in_flight_.emplace(waiting_->sequence, std::move(sending));
  return true;
}

void Redrive::take_answers(TimePoint until) {
  if (in_flight_.empty()) return;
  for (auto& [sequence, delivery] : answers_.take(until)) {
    const auto found = in_flight_.find(sequence);
    bytes_in_flight_ -= found->second->bytes;
    if (delivery.status == kafka::DeliveryStatus::acknowledged) {
      ledger_.complete(sequence);
      ++summary_.sent[found->second->topic];
      ++sent_;
    } else {
      fail(found->second->topic, delivery);
    }
    in_flight_.erase(found);
  }
}

void Redrive::fail(const std::string& topic, const kafka::Delivery& delivery) {
  const auto what = topic + " did not accept the record: " + delivery.error;
  ++summary_.left[what];
  const Error error{ErrorKind::unavailable, what, ""};
  // Then no other record can be sent either; a later redrive finds the records that are left.
  const bool ends_all = delivery.status == kafka::DeliveryStatus::unreachable ||
                        delivery.status == kafka::DeliveryStatus::denied;
  if (ends_all) summary_.error = error;
  if (!refusal_) refusal_ = error;
}

/// Waits for the answers to all records in flight, and commits.
Status Redrive::finish() {
  waiting_.reset();
  if (!producer_) return {};
  while (!in_flight_.empty()) take_answers(SteadyClock::now() + breath);
  return commit();
}

/// The position to commit.
lane::StoredCommit Redrive::position() const {
  return {.partition = span_.partition,
          .offset = ledger_.committable(),
          .map = ledger_.completed(lane::most_runs(lane::default_map_bytes))};
}

Status Redrive::commit() {
  next_commit_ = SteadyClock::now() + commit_interval;
  if (!producer_) return {};
  take_answers({});
  auto now = position();
  if (now.offset == committed_.offset && now.map == committed_.map) return {};
  auto done = claim_->commit(now.written(), Deadline::in(config_.start_deadline));
  if (done) committed_ = std::move(now);
  return done;
}

}  // namespace

Summary redrive(const config::Config& config, Letters& letters, const Options& options,
                const Targets& targets, const std::atomic<bool>& stop) {
  return Redrive(config, letters, options, targets, stop).run();
}

}  // namespace laneway::dlq
