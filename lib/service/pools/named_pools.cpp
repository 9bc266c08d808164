#include "service/pools/named_pools.h"

#include <algorithm>

#include "config/pools/pool_scope.h"
#include "handler/registry.h"

namespace laneway::service {
namespace {

int place_of(const config::Config& config, const std::string& pool) {
  const auto found = std::find_if(config.pools.begin(), config.pools.end(),
                                  [&](const config::Pool& one) { return one.name == pool; });
  return found == config.pools.end() ? -1 : static_cast<int>(found - config.pools.begin());
}

}  // namespace

lane::DownstreamRules rules_of(const config::Breaker& breaker, const config::Config& config) {
  return {{breaker.failures, breaker.window, breaker.probe}, breaker.slow, config.dead_letter.max_rate};
}

Result<NamedPools> NamedPools::make(const config::Config& config, handler::Handler* own) {
  NamedPools pools;
  std::vector<std::string> names;
  for (const config::Pool& pool : config.pools) {
    auto parts = std::make_unique<Parts>();
    parts->name = pool.name;
    parts->handler = pool.handler ? nullptr : own;
    if (parts->handler == nullptr) {
      auto made = handler::make_handler(config_of(config, pool));
      if (!made) return made.error();
      parts->made = std::move(made).value();
      parts->handler = parts->made.get();
    }
    const auto rules = rules_of(pool.breaker, config);
    parts->downstream = std::make_unique<lane::Downstream>(parts->handler->downstream(), rules);
    parts->rate = std::make_unique<lane::RateLimiter>(pool.rate);
    if (pool.each.by.enabled())
      parts->subscribers = std::make_unique<lane::Subscribers>(pool.name, rules, pool.each);
    if (pool.adaptive.enabled())
      parts->adaptive = std::make_unique<lane::AdaptiveLimit>(pool.adaptive, pool.workers);
    else if (pool.total > 0)
      parts->permits = std::make_unique<pool::Permits>(pool.total);
    names.push_back(pool.name);
    pools.parts_.push_back(std::move(parts));
  }
  if (!names.empty()) pools.router_ = std::make_unique<lane::Router>(config.route, names);
  return pools;
}

std::vector<lane::NamedPool> NamedPools::for_lanes(const config::Config& config) const {
  std::vector<lane::NamedPool> all;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto& parts = *parts_[i];
    const auto& settings = config.pools[i];
    lane::NamedPool pool;
    pool.settings = settings;
    pool.handler = parts.handler;
    pool.downstream = parts.downstream.get();
    pool.rate = parts.rate.get();
    pool.each = parts.subscribers.get();
    pool.adaptive = parts.adaptive.get();
    pool.permits = parts.adaptive ? &parts.adaptive->permits() : parts.permits.get();
    pool.then = place_of(config, settings.then);
    all.push_back(std::move(pool));
  }
  return all;
}

void NamedPools::change(const config::Config& wanted, TimePoint now) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto& settings = wanted.pools[i];
    const auto rules = rules_of(settings.breaker, wanted);
    parts_[i]->downstream->change(rules, now);
    parts_[i]->rate->change(settings.rate, now);
    if (parts_[i]->subscribers) parts_[i]->subscribers->change(rules, settings.each, now);
    if (parts_[i]->adaptive) parts_[i]->adaptive->change(settings.adaptive, settings.workers, now);
    if (parts_[i]->permits && settings.total > 0) parts_[i]->permits->set_limit(settings.total);
  }
}

void NamedPools::settle(TimePoint now) {
  for (const auto& parts : parts_) {
    parts->downstream->settle(now);
    if (parts->subscribers) parts->subscribers->settle(now);
  }
}

std::optional<Error> NamedPools::fatal() const {
  for (const auto& parts : parts_)
    if (auto fatal = parts->handler->fatal()) return fatal;
  return std::nullopt;
}

}  // namespace laneway::service
