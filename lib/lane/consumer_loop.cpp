#include "lane/consumer_loop.h"

#include <algorithm>

#include "telemetry/log.h"

namespace laneway::lane {
namespace {

constexpr Duration cancel_grace = seconds(1);
constexpr Duration commit_patience = seconds(2);
constexpr Duration close_patience = milliseconds(1000);
constexpr Duration committed_patience = seconds(10);
constexpr Duration commit_timeout = seconds(10);

std::atomic<std::uint64_t> last_epoch{0};

Error client_broken(const std::string& why) {
  return {ErrorKind::fatal, "the Kafka client cannot go on: " + why, ""};
}

}  // namespace

/// A lane with what the loop keeps beside it.
struct ConsumerLoop::Entry {
  std::shared_ptr<Lane> lane;
  std::atomic<bool> signalled{false};
  bool ready = false;
  bool leaving = false;
  TimePoint next_tick{};
};

ConsumerLoop::ConsumerLoop(const LaneContext& context, LoopSettings settings, std::function<void()> ended)
    : context_(context), settings_(std::move(settings)), on_ended_(std::move(ended)) {}

ConsumerLoop::~ConsumerLoop() {
  if (thread_.joinable()) thread_.join();
}

Status ConsumerLoop::start() {
  auto consumer =
      kafka::Consumer::create(settings_.client, context_.memory.fetch, [this] { signal_.notify(); });
  if (!consumer) return consumer.error();
  consumer_ = std::move(consumer).value();
  if (auto status = consumer_->subscribe(settings_.topics); !status) return status;
  stats_.last_turn_ns.set(SteadyClock::now().time_since_epoch().count());
  thread_ = std::thread([this] { run(); });
  return {};
}

void ConsumerLoop::stop() {
  int running = 0;
  stops_.compare_exchange_strong(running, 1);
  signal_.notify();
}

void ConsumerLoop::cut_short() {
  stops_.store(2);
  signal_.notify();
}

bool ConsumerLoop::join(Deadline deadline) {
  while (!ended() && !deadline.passed()) std::this_thread::sleep_for(milliseconds(5));
  if (!ended()) return false;
  if (thread_.joinable()) thread_.join();
  return zombies_.empty() && consumer_ == nullptr;
}

std::optional<Error> ConsumerLoop::fatal() const {
  MutexLock lock(shared_mutex_);
  return fatal_;
}

std::vector<std::shared_ptr<const Lane>> ConsumerLoop::lanes() const {
  MutexLock lock(shared_mutex_);
  return published_;
}

void ConsumerLoop::publish_lanes() {
  std::vector<std::shared_ptr<const Lane>> lanes;
  for (const auto& entry : entries_) lanes.push_back(entry->lane);
  MutexLock lock(shared_mutex_);
  published_ = std::move(lanes);
}

ConsumerLoop::Entry* ConsumerLoop::find(const kafka::TopicPartition& partition) {
  for (const auto& entry : entries_)
    if (entry->lane->partition() == partition) return entry.get();
  return nullptr;
}

void ConsumerLoop::run() {
  now_ = SteadyClock::now();
  next_tick_ = now_;
  next_commit_ = now_ + settings_.commit.interval;
  while (!done_) {
    if (ready_.empty() && !any_signalled_.load(std::memory_order_acquire)) {
      auto until = std::min(next_tick_, now_ + seconds(1));
      if (!handovers_.empty() || closing_since_ || stopping_)
        until = std::min(until, now_ + milliseconds(10));
      signal_.wait_until(until);
    }
    turn();
  }
  ended_.store(true, std::memory_order_release);
  on_ended_();
}

void ConsumerLoop::turn() {
  now_ = SteadyClock::now();
  stats_.last_turn_ns.set(now_.time_since_epoch().count());
  while (auto event = consumer_->poll()) serve(*event);
  work_lanes();
  if (now_ >= next_tick_) tick_lanes();
  advance_handovers();
  commit_if_due();
  bury();
  if (stops_.load() > 0) advance_stop();
}

void ConsumerLoop::work_lanes() {
  if (any_signalled_.exchange(false, std::memory_order_acq_rel)) {
    MutexLock lock(shared_mutex_);
    for (auto* entry : signalled_) {
      entry->signalled.store(false, std::memory_order_release);
      if (!entry->ready) ready_.push_back(entry);
      entry->ready = true;
    }
    signalled_.clear();
  }
  // One run of records a lane and turn: a busy lane does not keep the others waiting.
  std::size_t kept = 0;
  for (auto* entry : ready_) {
    entry->ready = entry->lane->work(now_);
    completed_ += entry->lane->take_completed();
    if (entry->ready) ready_[kept++] = entry;
    if (!entry->ready && entry->next_tick > now_ + milliseconds(50)) {
      entry->next_tick = now_ + milliseconds(50);
      next_tick_ = std::min(next_tick_, entry->next_tick);
    }
  }
  ready_.resize(kept);
}

void ConsumerLoop::tick_lanes() {
  next_tick_ = now_ + seconds(1);
  for (const auto& entry : entries_) {
    if (now_ >= entry->next_tick) {
      entry->next_tick = entry->lane->tick(now_);
      completed_ += entry->lane->take_completed();
    }
    next_tick_ = std::min(next_tick_, entry->next_tick);
  }
  next_tick_ = std::min(next_tick_, std::max(next_commit_, now_ + milliseconds(20)));
  telemetry::flush_log(false);
}

void ConsumerLoop::serve(kafka::Event& event) {
  if (auto* assigned = std::get_if<kafka::Assigned>(&event)) return on_assigned(*assigned);
  if (auto* revoked = std::get_if<kafka::Revoked>(&event)) return on_revoked(*revoked);
  if (auto* committed = std::get_if<kafka::Committed>(&event)) return on_committed(*committed);
  if (auto* result = std::get_if<kafka::CommitResult>(&event)) return on_commit_result(*result);
  if (auto* fetched = std::get_if<kafka::FetchedBytes>(&event)) {
    for (const auto& [partition, bytes] : fetched->bytes)
      if (auto* entry = find(partition)) entry->lane->stats().fetched_bytes.set(bytes);
    return;
  }
  if (auto* error = std::get_if<kafka::ClientError>(&event)) on_client_error(*error);
}

void ConsumerLoop::on_client_error(const kafka::ClientError& error) {
  telemetry::log_repeating(error.fatal ? telemetry::Level::error : telemetry::Level::warn, "client error",
                           "client error", {{"error", error.text}});
  if (error.fatal) fail(client_broken(consumer_->fatal_error().value_or(error.text)));
  if (error.group_denied && stats_.assigned.get() == 0) fail({ErrorKind::unavailable, error.text, ""});
}

void ConsumerLoop::fail(Error why) {
  {
    MutexLock lock(shared_mutex_);
    if (!fatal_) fatal_ = std::move(why);
  }
  if (stops_.load() == 0) stop();
}

void ConsumerLoop::on_assigned(const kafka::Assigned& assigned) {
  stats_.assigned.add(1);
  telemetry::info("partitions assigned", {{"count", assigned.partitions.size()}});
  arriving_ = assigned.partitions;
  if (arriving_.empty() || stopping_) {
    arriving_.clear();
    if (auto status = consumer_->assign({}); !status) fail(client_broken(status.error().text()));
    return;
  }
  consumer_->request_committed(++arrival_, arriving_, committed_patience);
}

void ConsumerLoop::on_committed(const kafka::Committed& committed) {
  if (committed.request != arrival_ || arriving_.empty()) return;
  std::vector<kafka::CommittedOffset> from = committed.offsets;
  if (!committed.error.empty() || from.size() != arriving_.size()) {
    telemetry::warn("committed offsets not read, finished records may run again",
                    {{"error", committed.error}});
    from.clear();
    for (const auto& partition : arriving_) from.push_back({partition, kafka::no_offset, {}});
  }
  arriving_.clear();
  std::vector<std::pair<Entry*, std::unique_ptr<PartitionSource>>> sources;
  for (const auto& start : from) {
    auto entry = std::make_unique<Entry>();
    auto* raw = entry.get();
    const auto ready = [this, raw] {
      if (raw->signalled.exchange(true, std::memory_order_acq_rel)) return;
      {
        MutexLock lock(shared_mutex_);
        signalled_.push_back(raw);
      }
      any_signalled_.store(true, std::memory_order_release);
      signal_.notify();
    };
    const auto epoch = last_epoch.fetch_add(1) + 1;
    entry->lane = std::make_shared<Lane>(context_, start, epoch, ready);
    telemetry::info("lane assigned", {{"topic", start.partition.topic},
                                      {"partition", start.partition.partition},
                                      {"offset", start.offset},
                                      {"epoch", epoch}});
    sources.emplace_back(raw, std::make_unique<KafkaSource>(*consumer_, start.partition, ready));
    entries_.push_back(std::move(entry));
  }
  if (auto status = consumer_->assign(from); !status) fail(client_broken(status.error().text()));
  for (auto& [entry, source] : sources) {
    entry->lane->start(std::move(source), now_);
    entry->ready = true;
    ready_.push_back(entry);
  }
  next_tick_ = now_;
  publish_lanes();
}

void ConsumerLoop::on_revoked(const kafka::Revoked& revoked) {
  (revoked.lost ? stats_.lost : stats_.revoked).add(1);
  telemetry::info(revoked.lost ? "partitions lost" : "partitions revoked",
                  {{"count", revoked.partitions.size()}});
  arriving_.clear();
  std::vector<Entry*> lanes;
  for (const auto& partition : revoked.partitions)
    if (auto* entry = find(partition); entry != nullptr && !entry->leaving) lanes.push_back(entry);
  const bool all = !consumer_->cooperative();
  if (revoked.lost) {
    // They are somebody else's already: nothing is committed, nothing is waited for.
    for (auto* entry : lanes) entry->lane->cancel();
    Handover handover{lanes, revoked.partitions, all, true, now_, now_, Handover::Step::committing};
    finish(handover);
    return;
  }
  begin_handover(std::move(lanes), revoked.partitions, all, true);
}

void ConsumerLoop::begin_handover(std::vector<Entry*> lanes, std::vector<kafka::TopicPartition> partitions,
                                  bool all, bool answer) {
  const auto deadline = now_ + context_.lanes.drain;
  for (auto* entry : lanes) {
    entry->leaving = true;
    entry->lane->begin_drain(now_, deadline);
  }
  handovers_.push_back(
      {std::move(lanes), std::move(partitions), all, answer, now_, deadline, Handover::Step::draining});
}

void ConsumerLoop::advance_handovers() {
  for (std::size_t i = 0; i < handovers_.size();) {
    if (!advance(handovers_[i])) {
      ++i;
      continue;
    }
    Handover handover = std::move(handovers_[i]);
    handovers_.erase(handovers_.begin() + static_cast<std::ptrdiff_t>(i));
    finish(handover);
  }
}

/// True when its lanes can end.
bool ConsumerLoop::advance(Handover& handover) {
  const bool hurry = stops_.load() > 1;
  if (handover.step != Handover::Step::committing) {
    for (auto* entry : handover.lanes) {
      entry->lane->work(now_);
      completed_ += entry->lane->take_completed();
    }
    const bool drained = std::all_of(handover.lanes.begin(), handover.lanes.end(),
                                     [](Entry* e) { return e->lane->drained(); });
    if (!drained && handover.step == Handover::Step::draining && (hurry || now_ >= handover.deadline)) {
      for (auto* entry : handover.lanes) entry->lane->cancel();
      handover.step = Handover::Step::cancelled;
      handover.deadline = now_ + cancel_grace;
      return false;
    }
    if (!drained && now_ < handover.deadline) return false;
    if (!drained && handover.step == Handover::Step::draining) return false;
    // One commit at a time, and none while the group is being joined.
    if (commit_sent_ && now_ < *commit_sent_ + commit_patience) return false;
    if (!handover.lanes.empty() && consumer_->joining() && now_ < handover.deadline + commit_patience)
      return false;
    stats_.drain.record(now_ - handover.begun);
    handover.step = Handover::Step::committing;
    handover.deadline = now_ + commit_patience;
    committing_.clear();
    commit_sent_.reset();
    if (consumer_->assignment_lost() || fatal()) return true;
    return !commit(handover.lanes);
  }
  return !commit_sent_ || now_ >= handover.deadline;
}

void ConsumerLoop::finish(Handover& handover) {
  committing_.clear();
  commit_sent_.reset();
  for (auto* entry : handover.lanes) end_lane(*entry);
  if (!handover.answer) return;
  if (auto status = consumer_->unassign(handover.partitions, handover.all); !status)
    telemetry::warn("giving partitions back failed", {{"error", status.error().text()}});
}

void ConsumerLoop::end_lane(Entry& entry) {
  const auto abandoned = entry.lane->revoke(now_);
  if (stops_.load() > 0) abandoned_.add(abandoned);
  telemetry::info("lane revoked", {{"topic", entry.lane->partition().topic},
                                   {"partition", entry.lane->partition().partition},
                                   {"epoch", entry.lane->epoch()},
                                   {"offset", entry.lane->stats().committed_offset.get()}});
  ready_.erase(std::remove(ready_.begin(), ready_.end(), &entry), ready_.end());
  const auto place =
      std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e.get() == &entry; });
  zombies_.push_back(std::move(*place));
  entries_.erase(place);
  publish_lanes();
}

/// Lets go of ended lanes whose handlers have returned.
void ConsumerLoop::bury() {
  for (std::size_t i = 0; i < zombies_.size();) {
    auto* entry = zombies_[i].get();
    if (!entry->lane->pool().drained() || !entry->lane->close_pool(Deadline(now_ + milliseconds(100)))) {
      ++i;
      continue;
    }
    {
      MutexLock lock(shared_mutex_);
      signalled_.erase(std::remove(signalled_.begin(), signalled_.end(), entry), signalled_.end());
    }
    ready_.erase(std::remove(ready_.begin(), ready_.end(), entry), ready_.end());
    zombies_.erase(zombies_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void ConsumerLoop::commit_if_due() {
  if (commit_sent_) {
    if (now_ < *commit_sent_ + commit_timeout) return;
    telemetry::warn("commit failed", {{"error", "no answer"}});
    stats_.commits_failed.add(1);
    commit_sent_.reset();
    committing_.clear();
  }
  // A commit during a rebalance can cost the assignment (librdkafka before 2.10).
  if (!handovers_.empty() || !arriving_.empty() || stopping_ || consumer_->joining()) return;
  if (now_ < next_commit_ && completed_ < settings_.commit.every) return;
  completed_ = 0;
  next_commit_ = now_ + settings_.commit.interval;
  std::vector<Entry*> lanes;
  for (const auto& entry : entries_) lanes.push_back(entry.get());
  (void)commit(lanes);
}

/// False when there was nothing to commit or it could not be asked for.
bool ConsumerLoop::commit(const std::vector<Entry*>& lanes) {
  std::vector<kafka::CommittedOffset> offsets;
  committing_.clear();
  for (auto* entry : lanes) {
    auto candidate = entry->lane->commit_candidate();
    if (!candidate) continue;
    offsets.push_back(*candidate);
    committing_.emplace_back(entry, std::move(*candidate));
  }
  if (offsets.empty()) return false;
  if (auto status = consumer_->commit(offsets); !status) {
    telemetry::warn("commit failed", {{"error", status.error().text()}});
    stats_.commits_failed.add(1);
    committing_.clear();
    return false;
  }
  commit_sent_ = now_;
  return true;
}

void ConsumerLoop::on_commit_result(const kafka::CommitResult& result) {
  if (!commit_sent_) return;
  stats_.commit_latency.record(now_ - *commit_sent_);
  commit_sent_.reset();
  for (const auto& [entry, offset] : committing_)
    if (std::find(result.committed.begin(), result.committed.end(), offset.partition) !=
        result.committed.end())
      entry->lane->committed(offset);
  committing_.clear();
  (result.error.empty() ? stats_.commits_acknowledged : stats_.commits_failed).add(1);
  if (!result.error.empty())
    telemetry::log_repeating(telemetry::Level::warn, "commit failed", "commit failed",
                             {{"error", result.error}});
}

/// Stopping: everything is drained and given back, then the group is left; each step has its deadline.
void ConsumerLoop::advance_stop() {
  if (!stopping_) {
    stopping_ = true;
    arriving_.clear();
    std::vector<Entry*> lanes;
    for (const auto& entry : entries_)
      if (!entry->leaving) lanes.push_back(entry.get());
    begin_handover(std::move(lanes), {}, true, false);
    return;
  }
  if (!handovers_.empty()) return;
  if (!closing_since_) {
    closing_since_ = now_;
    if (consumer_->fatal_error()) {
      done_ = true;  // the client forbids to close
      return;
    }
    if (auto status = consumer_->begin_close(); !status) done_ = true;
    return;
  }
  const bool closed = consumer_->closed();
  if (!closed && now_ < *closing_since_ + close_patience) return;
  if (!closed) telemetry::warn("leaving the group took too long", {});
  if (closed && zombies_.empty()) consumer_.reset();
  done_ = true;
}

}  // namespace laneway::lane
