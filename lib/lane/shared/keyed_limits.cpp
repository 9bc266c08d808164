#include "lane/shared/keyed_limits.h"

namespace laneway::lane {
namespace {

/// The text that records share when there are too many texts.
constexpr std::string_view others = "";

}  // namespace

std::shared_ptr<KeyedLimit> KeyedLimits::find(std::string_view text) {
  MutexLock lock(mutex_);
  if (const auto found = subscribers_.find(text); found != subscribers_.end()) return found->second;
  if (subscribers_.size() >= most) forget_unused();
  if (subscribers_.size() < most) return make(text);
  const auto found = subscribers_.find(others);
  return found != subscribers_.end() ? found->second : make(others);
}

std::shared_ptr<KeyedLimit> KeyedLimits::make(std::string_view text) {
  auto name = pool_ + " " + (text == others ? "(others)" : std::string(text));
  auto made = std::make_shared<KeyedLimit>(std::string(text), std::move(name), rules_, each_, pool_);
  subscribers_.emplace(text, made);
  return made;
}

/// A subscriber whose breaker is open is kept, because that is worth knowing.
void KeyedLimits::forget_unused() {
  std::erase_if(subscribers_, [](const auto& entry) {
    const auto& subscriber = entry.second;
    return subscriber.use_count() == 1 && subscriber->downstream.closed();
  });
}

void KeyedLimits::change(const DownstreamRules& rules, const config::Each& each, TimePoint now) {
  MutexLock lock(mutex_);
  rules_ = rules;
  each_.rate = each.rate;
  each_.workers = each.workers;
  for (const auto& [text, subscriber] : subscribers_) {
    subscriber->downstream.change(rules, now);
    subscriber->rate.change(each.rate, now);
    subscriber->places.set_most(each.workers);
  }
}

void KeyedLimits::settle(TimePoint now) {
  for (const auto& subscriber : all()) subscriber->downstream.settle(now);
}

/// One that was out long before the last record was done is no sign of an outage of all. Those of such an
/// outage go out one after the other, and the lanes note it later.
void KeyedLimits::note_failed(const KeyedLimit& subscriber, bool local, TimePoint at) {
  const auto out_since = subscriber.downstream.out_since();
  if (!local && out_since && *out_since + PoolOutages::shortest <= worked_at()) return;
  MutexLock lock(mutex_);
  outages_.failed(&subscriber, local || out_since, at);
  failing_.store(true, std::memory_order_relaxed);
}

void KeyedLimits::end_outage(TimePoint at) {
  MutexLock lock(mutex_);
  outages_.worked(at);
  failing_.store(false, std::memory_order_relaxed);
}

std::vector<std::shared_ptr<KeyedLimit>> KeyedLimits::all() const {
  MutexLock lock(mutex_);
  std::vector<std::shared_ptr<KeyedLimit>> all;
  all.reserve(subscribers_.size());
  for (const auto& [text, subscriber] : subscribers_) all.push_back(subscriber);
  return all;
}

}  // namespace laneway::lane
