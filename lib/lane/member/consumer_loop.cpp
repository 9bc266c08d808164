#include "lane/member/consumer_loop.h"

#include <pthread.h>

#include <algorithm>

#include "telemetry/log.h"

namespace laneway::lane {
namespace {

constexpr std::size_t most_commands = 64;
constexpr Duration comparison_interval = seconds(2);
constexpr Duration close_patience = milliseconds(1000);
/// librdkafka before 2.6.1 never frees a client that has read from a topic which was deleted (#4724).
constexpr Duration free_patience = seconds(2);
constexpr Duration most_of_drain = seconds(4);  // for closing: brokers that are gone never answer
/// After the drain: for members whose handlers hang. With close_patience it stays within the service's slack.
constexpr Duration leave_patience = milliseconds(1500);

constexpr Duration longest_sleep = seconds(1);

/// Since when something is so.
void stamp(Relaxed<std::int64_t>& since, bool is_so, TimePoint now) {
  if (!is_so)
    since.set(0);
  else if (since.get() == 0)
    since.set(now.time_since_epoch().count());
}

}  // namespace

ConsumerLoop::ConsumerLoop(const LaneContext& context, LoopSettings settings, std::function<void()> ended)
    : on_ended_(std::move(ended)), context_(context), settings_(std::move(settings)) {}

ConsumerLoop::~ConsumerLoop() {
  if (thread_.joinable()) thread_.join();
  // Their threads signal this object, so they end before it does.
  zombies_.clear();
  consumer_.reset();
}

Status ConsumerLoop::start() {
  auto consumer =
      kafka::Consumer::create(settings_.client, context_.memory.fetch, [this] { signal_.notify(); });
  if (!consumer) return consumer.error();
  consumer_ = std::move(consumer).value();
  commits_ = make_commit_path(*consumer_, context_.handler->transaction(), [this] { signal_.notify(); });
  rebalances_.emplace(static_cast<RebalanceSteps&>(*this), context_.lanes.drain, commits_->exact());
  if (auto status = consumer_->subscribe(settings_.topics); !status) return status;
  stats_.last_turn_ns.set(SteadyClock::now().time_since_epoch().count());
  settings_.still_draining->add();
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
  const Deadline freed(TimePoint(Duration(ended_ns_.load(std::memory_order_relaxed))) + free_patience);
  while (!freed_.load(std::memory_order_acquire) && !freed.passed())
    std::this_thread::sleep_for(milliseconds(5));
  if (!freed_.load(std::memory_order_acquire)) return false;
  if (thread_.joinable()) thread_.join();
  return zombies_.empty() && consumer_ == nullptr;
}

std::optional<Error> ConsumerLoop::fatal() const {
  MutexLock lock(shared_mutex_);
  return fatal_;
}

std::string ConsumerLoop::broker_error() const {
  MutexLock lock(shared_mutex_);
  return broker_error_;
}

std::vector<std::shared_ptr<const Lane>> ConsumerLoop::lanes() const {
  MutexLock lock(shared_mutex_);
  return published_;
}

void ConsumerLoop::publish_lanes() {
  if (!std::exchange(lanes_changed_, false)) return;
  std::vector<std::shared_ptr<const Lane>> lanes;
  for (const auto& [partition, entry] : entries_) lanes.push_back(entry->lane);
  MutexLock lock(shared_mutex_);
  published_ = std::move(lanes);
}

ConsumerLoop::Entry* ConsumerLoop::find(const kafka::TopicPartition& partition) const {
  const auto found = entries_.find(partition);
  return found == entries_.end() ? nullptr : found->second.get();
}

void ConsumerLoop::run() {
  ::pthread_setname_np(::pthread_self(), "loop");  // for top -H and debuggers
  now_ = SteadyClock::now();
  next_chores_ = now_;
  next_commit_ = now_ + settings_.commit.interval;
  while (!done_) {
    if (ready_.empty() && !any_signalled_.load(std::memory_order_acquire) && !any_commands_.load()) {
      auto until = std::min(next_chores_, now_ + longest_sleep);
      if (!ticks_.empty()) until = std::min(until, ticks_.begin()->first);
      if (rebalances_->handing_over() || closing_since_ || stopping_)
        until = std::min(until, now_ + milliseconds(10));
      signal_.wait_until(until);
    }
    turn();
  }
  end_commands();
  commits_.reset();  // the next member may commit
  ended_ns_.store(SteadyClock::now().time_since_epoch().count(), std::memory_order_relaxed);
  ended_.store(true, std::memory_order_release);
  on_ended_();
  if (frees_client_) consumer_.reset();
  freed_.store(true, std::memory_order_release);
}

void ConsumerLoop::turn() {
  now_ = SteadyClock::now();
  stats_.last_turn_ns.set(now_.time_since_epoch().count());
  while (auto event = consumer_->poll()) serve(*event);
  if (any_commands_.load()) run_commands();
  work_lanes();
  tick_lanes();
  if (now_ >= next_chores_) do_chores();
  advance_commit();
  start_over_if_failed();
  if (stops_.load() > 1) rebalances_->hurry();
  rebalances_->advance(now_);
  commit_if_due();
  bury();
  if (stops_.load() > 0) advance_stop();
  publish_lanes();
}

bool ConsumerLoop::post(LaneCommand command) {
  {
    MutexLock lock(shared_mutex_);
    if (!takes_commands_ || commands_.size() >= most_commands) return false;
    commands_.push_back(std::move(command));
  }
  any_commands_.store(true);
  signal_.notify();
  return true;
}

void ConsumerLoop::hand_pauses_changed() {
  any_commands_.store(true);
  signal_.notify();
}

void ConsumerLoop::follow(std::shared_ptr<const config::Config> settings) {
  {
    MutexLock lock(shared_mutex_);
    new_settings_ = std::move(settings);
  }
  any_commands_.store(true);
  signal_.notify();
}

void ConsumerLoop::follow_settings(const config::Config& settings) {
  context_.lanes = settings.lanes;
  context_.retry = settings.retry;
  context_.ledger = settings.ledger;
  settings_.commit = settings.commit;
  rebalances_->set_drain(settings.lanes.drain);
  next_commit_ = std::min(next_commit_, now_ + settings.commit.interval);
  for (const auto& [partition, entry] : entries_) {
    entry->lane->follow_settings(now_);
    tick_at(*entry, now_);  // it may have waited for the time of an old setting
  }
  next_chores_ = now_;
}

void ConsumerLoop::run_commands() {
  any_commands_.store(false);
  std::vector<LaneCommand> commands;
  std::shared_ptr<const config::Config> settings;
  {
    MutexLock lock(shared_mutex_);
    commands.swap(commands_);
    settings.swap(new_settings_);
  }
  if (settings != nullptr) follow_settings(*settings);
  for (const auto& command : commands)
    for (const auto& [partition, entry] : entries_) command(*entry->lane, now_);
  for (const auto& [partition, entry] : entries_) {
    entry->lane->follow_hand(now_);
    make_ready(*entry);
  }
}

/// Who waits for one learns that it will not be run.
void ConsumerLoop::end_commands() {
  std::vector<LaneCommand> commands;
  MutexLock lock(shared_mutex_);
  takes_commands_ = false;
  commands.swap(commands_);
}

void ConsumerLoop::make_ready(Entry& entry) {
  if (!entry.ready) ready_.push_back(&entry);
  entry.ready = true;
}

void ConsumerLoop::work_lanes() {
  if (any_signalled_.exchange(false, std::memory_order_acq_rel)) {
    MutexLock lock(shared_mutex_);
    for (auto* entry : signalled_) {
      entry->signalled.store(false, std::memory_order_release);
      make_ready(*entry);
    }
    signalled_.clear();
  }
  // One run of records a lane and turn: a busy lane does not keep the others waiting.
  std::size_t kept = 0;
  for (auto* entry : ready_) {
    if (entry->ended) {
      entry->ready = false;
      continue;
    }
    entry->ready = entry->lane->work(now_);
    after_work(*entry);
    if (entry->ready) ready_[kept++] = entry;
    if (!entry->ready && entry->tick->first > now_ + milliseconds(50))
      tick_at(*entry, now_ + milliseconds(50));
  }
  ready_.resize(kept);
}

void ConsumerLoop::after_work(Entry& entry) {
  completed_ += entry.lane->take_completed();
  commit_wanted_ = commit_wanted_ || entry.lane->wants_commit();
  if (!std::exchange(entry.worked, true)) worked_.insert(&entry);
}

void ConsumerLoop::tick_at(Entry& entry, TimePoint at) {
  auto tick = ticks_.extract(entry.tick);
  tick.key() = at;
  entry.tick = ticks_.insert(std::move(tick));
}

/// Those that are due: with many lanes most are not.
void ConsumerLoop::tick_lanes() {
  context_.rebalancing = !rebalances_->at_rest();
  while (!ticks_.empty() && ticks_.begin()->first <= now_) {
    auto& entry = *ticks_.begin()->second;
    tick_at(entry, std::max(entry.lane->tick(now_), now_ + nanoseconds(1)));
    after_work(entry);
    if (const auto& demand = entry.lane->silence_demand()) meet_silence(*demand);
  }
}

void ConsumerLoop::do_chores() {
  next_chores_ = std::clamp(next_commit_, now_ + milliseconds(20), now_ + seconds(1));
  stamp(stats_.joining_since_ns, consumer_->joining(), now_);
  stats_.must_be_renewed.set(consumer_->must_be_renewed());
  compare_assignment();
  telemetry::flush_log(false);
}

/// A partition that the client has and no lane reads, or the other way round, would stand still unseen.
void ConsumerLoop::compare_assignment() {
  if (now_ < next_comparison_ || !rebalances_->at_rest() || stopping_) return;
  next_comparison_ = now_ + comparison_interval;
  const auto assignment = consumer_->assignment();
  if (!assignment || rebalances_->compare(*assignment, consumer_->cooperative(), now_)) return;
  stats_.assignment_repairs.add(1);
}

void ConsumerLoop::serve(kafka::Event& event) {
  if (auto* assigned = std::get_if<kafka::Assigned>(&event)) return on_assigned(*assigned);
  if (auto* revoked = std::get_if<kafka::Revoked>(&event)) return on_revoked(*revoked);
  if (auto* committed = std::get_if<kafka::Committed>(&event))
    return rebalances_->committed_offsets(*committed);
  if (auto* result = std::get_if<kafka::CommitResult>(&event)) return commits_->on_answer(*result);
  if (auto* statistics = std::get_if<kafka::Statistics>(&event)) return on_statistics(*statistics);
  if (auto* error = std::get_if<kafka::ClientError>(&event)) on_client_error(*error);
}

void ConsumerLoop::on_statistics(const kafka::Statistics& statistics) {
  for (const auto& [partition, bytes] : statistics.fetched)
    if (auto* entry = find(partition)) entry->lane->stats().fetched_bytes.set(bytes);
  stamp(stats_.no_broker_since_ns, !statistics.connected, now_);
  if (!statistics.connected) return;
  MutexLock lock(shared_mutex_);
  broker_error_.clear();
}

void ConsumerLoop::on_client_error(const kafka::ClientError& error) {
  telemetry::log_repeating(error.fatal ? telemetry::Level::error : telemetry::Level::warn,
                           "client error: " + error.text, "client error", {{"error", error.text}});
  if (error.connection) {
    MutexLock lock(shared_mutex_);
    broker_error_ = error.text;
  }
  if (error.fatal) fail(consumer_->fatal_error().value_or(client_broken(error.text)));
  if (error.group_denied && stats_.assigned.get() == 0) fail({ErrorKind::unavailable, error.text, ""});
}

Error ConsumerLoop::client_broken(const std::string& why) {
  return {ErrorKind::fatal, "the Kafka client cannot go on: " + why, ""};
}

/// The service makes new members, or ends the process; what is done is committed before.
void ConsumerLoop::meet_silence(const LaneSilence::Demand& demand) {
  if (demand.step == SilenceStep::rejoin) stats_.partition_silent.set(true);
  if (demand.step != SilenceStep::restart || stops_.load() > 0) return;
  ends_by_silence_ = true;
  fail({ErrorKind::fatal, demand.why,
        "start the service again; if that does not help, see LanewayPartitionSilent in the runbooks"});
}

void ConsumerLoop::fail(Error why) {
  {
    MutexLock lock(shared_mutex_);
    if (!fatal_) fatal_ = std::move(why);
  }
  if (stops_.load() == 0) stop();
}

void ConsumerLoop::begin_stop() {
  if (any_commands_.load()) run_commands();  // what came before the stop counts for it
  stopping_ = true;
  leave_deadline_ = now_ + context_.lanes.drain + leave_patience;
  rebalances_->stop(now_);
}

bool ConsumerLoop::may_leave() {
  if (!rebalances_->at_rest()) return false;
  if (!drained_) settings_.still_draining->remove();
  drained_ = true;
  if (stops_.load() > 1 || now_ >= leave_deadline_) return true;
  // The coordinator reads no request behind a JoinGroup: the group would not see the leave, and the
  // partitions of a member that is gone would stand still until its session ends.
  return settings_.still_draining->none() && !consumer_->join_under_way();
}

/// Stopping: everything is drained and given back, then the group is left; each step has its deadline.
void ConsumerLoop::advance_stop() {
  if (!stopping_) return begin_stop();
  if (!closing_since_) {
    if (!may_leave()) return;
    closing_since_ = now_;
    // A client that cannot go on forbids to close.
    if (consumer_->fatal_error() || !consumer_->begin_close()) done_ = true;
    return;
  }
  const bool closed = consumer_->closed();
  // A slow coordinator has what the drain left of its time, unless somebody is in a hurry.
  const auto since = stops_.load() > 1
                         ? *closing_since_
                         : std::clamp(leave_deadline_, *closing_since_, *closing_since_ + most_of_drain);
  // Handlers that have returned leave threads that are about to end; one that hangs is not waited for.
  const bool ending = std::any_of(zombies_.begin(), zombies_.end(),
                                  [](const auto& zombie) { return zombie->lane->pool().drained(); });
  if ((!closed || ending) && now_ < since + close_patience) return;
  if (!closed) telemetry::warn("leaving the group took too long", {});
  frees_client_ = closed && zombies_.empty();
  done_ = true;
}

}  // namespace laneway::lane
