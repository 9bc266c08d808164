#include "service/pools/shared_stages.h"

#include "config/pools/pool_scope.h"
#include "handler/registry.h"

namespace laneway::service {
namespace {

lane::DownstreamRules rules_of(const config::BreakerSettings& breaker, const config::Config& config) {
  return {{breaker.failures, breaker.window, breaker.probe}, breaker.slow, config.dead_letter.max_rate};
}

}  // namespace

Result<SharedStages> SharedStages::make(const config::Config& config, handler::Handler* own) {
  SharedStages stages;
  stages.process_rate_ = std::make_unique<lane::RateLimiter>(config.rate);
  std::vector<std::string> names;
  for (const config::PoolSettings& pool : config::stages_of(config)) {
    auto parts = std::make_unique<Parts>();
    parts->name = pool.name;
    parts->handler = pool.handler ? nullptr : own;
    if (parts->handler == nullptr) {
      auto made = handler::make_handler(config, pool);
      if (!made) return made.error();
      parts->made = std::move(made).value();
      parts->handler = parts->made.get();
    }
    const auto rules = rules_of(pool.breaker, config);
    using Calls = lane::Downstream::Calls;
    parts->downstream = std::make_unique<lane::Downstream>(
        parts->handler->downstream(), rules, pool.named() ? Calls::of_pool : Calls::of_service, pool.name);
    if (pool.named()) parts->rate = std::make_unique<lane::RateLimiter>(pool.rate);
    if (pool.each.by.enabled())
      parts->subscribers = std::make_unique<lane::KeyedLimits>(pool.name, rules, pool.each);
    if (pool.adaptive.enabled())
      parts->adaptive = std::make_unique<lane::AdaptiveLimit>(pool.adaptive, pool.workers);
    else if (pool.total > 0)
      parts->permits = std::make_unique<pool::Permits>(pool.total);
    if (pool.named()) names.push_back(pool.name);
    stages.parts_.push_back(std::move(parts));
  }
  if (!names.empty()) stages.router_ = std::make_unique<lane::Router>(config.route, names);
  return stages;
}

void SharedStages::add_to(lane::LaneContext& context, const config::Config& config) const {
  Duration longest{};
  for (const auto& [topic, step] : context.retry_steps->all()) longest = std::max(longest, step.delay);
  parked_orders_->set_longest_delay(longest);
  context.parked_orders = parked_orders_.get();
  context.parked_records = parked_records_.get();
  context.stages = for_lanes(config);
  context.router = router_.get();
}

std::vector<lane::StageContext> SharedStages::for_lanes(const config::Config& config) const {
  const auto stages = config::stages_of(config);
  std::vector<lane::StageContext> all;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto& parts = *parts_[i];
    lane::StageContext stage;
    stage.settings = stages[i];
    stage.handler = parts.handler;
    stage.downstream = parts.downstream.get();
    stage.rate = &rate(i);
    stage.each = parts.subscribers.get();
    stage.adaptive = parts.adaptive.get();
    stage.permits = parts.adaptive ? &parts.adaptive->permits() : parts.permits.get();
    const auto* next = config::find_pool(config, stages[i].then);  // pools are stages in the same order
    stage.then = next == nullptr ? -1 : static_cast<int>(next - config.pools.data());
    all.push_back(std::move(stage));
  }
  return all;
}

std::vector<WatchedDownstream> SharedStages::watched(const config::Config& config) const {
  const auto stages = config::stages_of(config);
  std::vector<WatchedDownstream> all;
  for (std::size_t i = 0; i < parts_.size(); ++i)
    all.push_back({parts_[i]->downstream.get(), &rate(i), stages[i].breaker.failures > 0, parts_[i]->name,
                   parts_[i]->adaptive.get()});
  return all;
}

void SharedStages::change(const config::Config& wanted, TimePoint now) {
  process_rate_->change(wanted.rate, now);
  const auto stages = config::stages_of(wanted);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto& settings = stages[i];
    const auto rules = rules_of(settings.breaker, wanted);
    parts_[i]->downstream->change(rules, now);
    if (parts_[i]->rate) parts_[i]->rate->change(settings.rate, now);
    if (parts_[i]->subscribers) parts_[i]->subscribers->change(rules, settings.each, now);
    if (parts_[i]->adaptive) parts_[i]->adaptive->change(settings.adaptive, settings.workers, now);
    if (parts_[i]->permits && settings.total > 0) parts_[i]->permits->set_limit(settings.total);
  }
}

void SharedStages::settle(TimePoint now) {
  (void)parked_orders_->standing(now);  // ends those for which nothing comes any more
  for (const auto& parts : parts_) {
    parts->downstream->settle(now);
    if (parts->subscribers) parts->subscribers->settle(now);
  }
}

std::optional<Error> SharedStages::fatal() const {
  for (const auto& parts : parts_)
    if (auto fatal = parts->handler->fatal()) return fatal;
  return std::nullopt;
}

}  // namespace laneway::service
