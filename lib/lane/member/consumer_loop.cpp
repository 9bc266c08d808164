#include "lane/member/consumer_loop.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "config/pools/pool_scope.h"
#include "telemetry/log.h"

namespace laneway::lane {
namespace {

constexpr Duration comparison_interval = seconds(2);
/// librdkafka before 2.6.1 never frees a client that has read from a topic which was deleted (#4724).
constexpr Duration free_patience = seconds(2);
constexpr Duration longest_sleep = seconds(1);

}  // namespace

ConsumerLoop::ConsumerLoop(const LaneContext& context, LoopSettings settings, std::function<void()> ended)
    : on_ended_(std::move(ended)), context_(context), settings_(std::move(settings)) {}

Status ConsumerLoop::start() {
  const auto notify = std::bind_front(&Signal::notify, &signal_);
  auto consumer = settings_.member_client.make_consumer(settings_.client, context_.memory.fetch, notify);
  if (!consumer) return consumer.error();
  consumer_ = std::move(consumer).value();
  const auto group = settings_.client.find("group.id");
  commits_.emplace(*consumer_,
                   make_commit_path(*consumer_, group == settings_.client.end() ? "" : group->second.value,
                                    context_.stages.front().handler->transaction(), notify),
                   lanes_, stats_);
  rebalance_steps_.emplace(*consumer_, settings_.member_client.open_source, lanes_, *commits_, health_,
                           mailbox_, stats_);
  const bool exact = commits_->path->exact;
  rebalances_.emplace(
      *rebalance_steps_, context_.lanes.drain, consumer_->incremental(),
      RebalanceMachine::Needs{.offset = exact || consumer_->begins_at_end(), .topic_id = exact});
  const auto& topics = settings_.topics;
  if (topics.pattern) topics_.emplace(*consumer_, topics);
  if (!topics.names.empty())
    if (auto status = consumer_->subscribe(topics.names); !status) return status;
  settings_.still_draining->fetch_add(1);
  stats_.last_turn_ns.set(SteadyClock::now().time_since_epoch().count());
  thread_ = std::jthread(&ConsumerLoop::run, this);
  return {};
}

bool ConsumerLoop::join(Deadline deadline) {
  while (!ended() && !deadline.passed()) std::this_thread::sleep_for(milliseconds(5));
  if (!ended()) return false;
  const Deadline freed{TimePoint(Duration(ended_ns_.load(std::memory_order_relaxed))) + free_patience};
  while (!freed_.load(std::memory_order_acquire) && !freed.passed() &&
         !(waits_for_handlers() && deadline.passed()))
    std::this_thread::sleep_for(milliseconds(5));
  if (!freed_.load(std::memory_order_acquire)) return false;
  if (thread_.joinable()) thread_.join();
  return lanes_.all_buried() && consumer_ == nullptr;
}

void ConsumerLoop::run() {
  ::pthread_setname_np(::pthread_self(), "loop");  // for top -H and debuggers
  now_ = SteadyClock::now();
  next_chores_ = now_;
  commits_->follow(settings_.commit, now_);
  while (!left_) {
    if (!lanes_.any_ready() && !mailbox_.has_mail()) {
      auto until = std::min(next_chores_, now_ + longest_sleep);
      until = std::min(until, lanes_.next_tick().value_or(until));
      if (rebalances_->handing_over() || leave_) until = std::min(until, now_ + milliseconds(10));
      signal_.wait_until(until);
    }
    turn();
  }
  mailbox_.close();
  commits_.reset();  // the next member may commit
  ended_ns_.store(SteadyClock::now().time_since_epoch().count(), std::memory_order_relaxed);
  ended_.store(true, std::memory_order_release);
  on_ended_();
  if (*left_) {
    // Running records keep the client; so do handlers that hang.
    waits_for_handlers_.store(!lanes_.all_buried(), std::memory_order_release);
    while (!lanes_.all_buried()) {
      signal_.wait_until(SteadyClock::now() + milliseconds(100));
      now_ = SteadyClock::now();
      lanes_.work(now_);
      lanes_.bury(now_);
    }
    consumer_.reset();
  }
  freed_.store(true, std::memory_order_release);
}

void ConsumerLoop::turn() {
  now_ = SteadyClock::now();
  rebalance_steps_->begin_turn(now_);
  stats_.last_turn_ns.set(now_.time_since_epoch().count());
  while (auto event = consumer_->poll()) serve(*event);
  if (mailbox_.has_mail()) read_mail();
  lanes_.work(now_);
  context_.rebalancing = rebalances_->rebalancing();
  lanes_.tick(now_, [this](const auto& demand) { health_.on_silence(demand); });
  if (now_ >= next_chores_) do_chores();
  commits_->advance(now_);
  if (commits_->path->exact) start_over_if_failed();
  rebalances_->advance(now_, mailbox_.cut_short_asked());
  if (!health_.commits_no_more()) commits_->commit_if_due(rebalances_->lanes_stay_ours(), now_);
  lanes_.bury(now_);
  if (mailbox_.stop_asked()) advance_stop();
  lanes_.publish();
}

void ConsumerLoop::serve(kafka::Event& event) {
  using Kind = RebalanceMachine::Kind;
  if (auto* assigned = std::get_if<kafka::Assigned>(&event))
    return on_rebalance(Kind::assigned, assigned->partitions);
  if (auto* revoked = std::get_if<kafka::Revoked>(&event))
    return on_rebalance(revoked->lost ? Kind::lost : Kind::revoked, revoked->partitions);
  if (auto* committed = std::get_if<kafka::Committed>(&event))
    return rebalances_->committed_offsets(*committed, now_);
  if (auto* result = std::get_if<kafka::CommitResult>(&event)) return commits_->path->on_answer(*result);
  if (auto* statistics = std::get_if<kafka::Statistics>(&event)) return on_statistics(*statistics);
  if (auto* found = std::get_if<kafka::TopicsFound>(&event); found && topics_)
    return topics_->on_topics(*found, now_);
  if (auto* error = std::get_if<kafka::ClientError>(&event)) {
    if (topics_ && !error->connection) topics_->look_soon(now_);  // a topic may have been deleted
    health_.on_client_error(*error, *consumer_);
  }
}

void ConsumerLoop::on_rebalance(RebalanceMachine::Kind kind, const Partitions& partitions) {
  const bool assigned = kind == RebalanceMachine::Kind::assigned;
  const bool lost = kind == RebalanceMachine::Kind::lost;
  (assigned ? stats_.assigned : lost ? stats_.lost : stats_.revoked).add(1);
  if (assigned || lost) stats_.has_assignment.set(assigned);
  if (lost) lost_epoch_ = consumer_->member_epoch();
  telemetry::info(assigned ? "partitions assigned"
                  : lost   ? "partitions lost"
                           : "partitions revoked",
                  {{"count", partitions.size()}});
  if (topics_) topics_->on_rebalance(now_);
  rebalances_->arrived(kind, partitions, now_);
}

void ConsumerLoop::on_statistics(const kafka::Statistics& statistics) {
  for (const auto& [partition, bytes] : statistics.fetched)
    if (auto* lane = lanes_.find(partition)) lane->lane->stats().fetched_bytes.set(bytes);
  health_.on_statistics(statistics, now_);
}

void ConsumerLoop::read_mail() {
  const auto mail = mailbox_.take();
  if (mail.settings != nullptr) follow_settings(*mail.settings);
  for (const auto& command : mail.commands)
    for (auto* lane : lanes_.all()) command(*lane->lane, now_);
  for (auto* lane : lanes_.all()) {
    lane->lane->follow_suspensions(now_);
    lanes_.make_ready(*lane);
  }
}

void ConsumerLoop::follow_settings(const config::Config& settings) {
  context_.lanes = settings.lanes;
  context_.retry = settings.retry;
  context_.ledger = settings.ledger;
  const auto stages = config::stages_of(settings);
  for (std::size_t i = 0; i < context_.stages.size(); ++i) context_.stages[i].settings = stages[i];
  rebalances_->set_drain(settings.lanes.drain);
  commits_->follow(settings.commit, now_);
  for (auto* lane : lanes_.all()) {
    lane->lane->follow_settings(now_);
    lanes_.tick_at(*lane, now_);  // the lane may have waited for the time of an old setting
  }
  next_chores_ = now_;
}

/// They are due with the next commit, which nothing else wakes the loop for, and at least once a second.
void ConsumerLoop::do_chores() {
  next_chores_ = std::clamp(commits_->next_due(), now_ + milliseconds(20), now_ + seconds(1));
  stamp(stats_.joining_since_ns, consumer_->joining(), now_);
  stats_.awaited_offsets.set(rebalances_->awaited_offsets());
  stamp(stats_.awaiting_offsets_since_ns, rebalances_->awaited_offsets() > 0, now_);
  stats_.must_be_renewed.set(consumer_->must_be_renewed());
  compare_assignment();
  if (topics_ && !leave_) topics_->advance(!rebalances_->rebalancing() && !consumer_->joining(), now_);
  stats_.without_topics.set(topics_ && topics_->without_topics());
  telemetry::flush_log(false);
}

/// Without this check, a partition that the client has and no lane reads, or the reverse, would stand still
/// unseen.
void ConsumerLoop::compare_assignment() {
  if (now_ < next_comparison_ || !rebalances_->at_rest() || leave_) return;
  next_comparison_ = now_ + comparison_interval;
  // A member that the brokers admit without partitions gets no event. Until the client has given up lost
  // partitions, it reports the epoch at which the member lost them.
  const auto epoch = stats_.has_assignment.get() ? 0 : consumer_->member_epoch();
  if (epoch != 0 && epoch != lost_epoch_) {
    telemetry::info("the group has no partition for this member");
    stats_.has_assignment.set(true);
  }
  const auto assignment = consumer_->assignment();
  if (!assignment || rebalances_->compare(*assignment, now_)) return;
  stats_.assignment_repairs.add(1);
}

void ConsumerLoop::start_over_if_failed() {
  const auto why = commits_->failure();
  if (!why) return;
  telemetry::log_repeating(telemetry::Level::warn, "transaction failed: " + *why,
                           "transaction aborted, its records run again", {{"error", *why}});
  commits_->drop();
  rebalances_->give_up_handovers();
  rebalance_steps_->start_over();
}

/// Leaves the group after everything is drained and given back.
void ConsumerLoop::advance_stop() {
  if (!leave_) {
    if (mailbox_.has_mail()) read_mail();  // requests from before the stop apply to the stop
    leave_.emplace(*consumer_, lanes_, *settings_.still_draining, now_ + context_.lanes.drain);
    return rebalances_->stop(now_);
  }
  left_ = leave_->advance(rebalances_->at_rest(), mailbox_.cut_short_asked(), now_);
}

}  // namespace laneway::lane
