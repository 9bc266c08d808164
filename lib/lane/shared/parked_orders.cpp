#include "lane/shared/parked_orders.h"

#include <algorithm>
#include <utility>

namespace laneway::lane {
namespace {

bool same_records(const ParkedOrder& a, const ParkedOrder& b) {
  return a.pool == b.pool && a.subscriber == b.subscriber;
}

}  // namespace

void ParkedOrders::set_longest_delay(Duration longest) {
  MutexLock lock(mutex_);
  // A retry topic may have no owner for a while: in a rebalance, or while its leader changes.
  longest_ = longest == Duration::zero() ? longest : std::max<Duration>(longest, std::chrono::minutes(10));
}

bool ParkedOrders::followed() const {
  MutexLock lock(mutex_);
  return longest_ > Duration::zero();
}

bool ParkedOrders::give(ParkedOrder order) {
  MutexLock lock(mutex_);
  const auto given = order.given;
  end_old(given);
  std::erase_if(standing_, [&](const Standing& other) { return same_records(other.order, order); });
  if (standing_.size() >= most) return false;
  standing_.push_back({std::move(order), given});
  latest_.store(given, std::memory_order_relaxed);
  return true;
}

bool ParkedOrders::sends_on(TimePoint parked_at, TimePoint now) {
  if (!any()) return false;
  MutexLock lock(mutex_);
  end_old(now);
  bool any = false;
  for (auto& one : standing_) {
    if (parked_at > one.order.given) continue;
    one.last_came = std::max(one.last_came, now);
    any = true;
  }
  return any;
}

std::optional<std::string> ParkedOrders::gives_up(std::string_view pool, std::string_view subscriber,
                                                  TimePoint parked_at) const {
  if (!any()) return std::nullopt;
  MutexLock lock(mutex_);
  const auto place = find(pool, subscriber, parked_at);
  if (place == standing_.size()) return std::nullopt;
  return standing_[place].order.reason;
}

void ParkedOrders::note_given_up(std::string_view pool, std::string_view subscriber, TimePoint parked_at) {
  MutexLock lock(mutex_);
  const auto place = find(pool, subscriber, parked_at);
  if (place < standing_.size()) ++standing_[place].order.given_up;
}

std::size_t ParkedOrders::find(std::string_view pool, std::string_view subscriber,
                               TimePoint parked_at) const {
  const auto found = std::find_if(standing_.begin(), standing_.end(), [&](const Standing& one) {
    const auto& order = one.order;
    return order.pool == pool && parked_at <= order.given &&
           (!order.subscriber || *order.subscriber == subscriber);
  });
  return static_cast<std::size_t>(found - standing_.begin());
}

std::vector<ParkedOrder> ParkedOrders::standing(TimePoint now) {
  std::vector<ParkedOrder> orders;
  MutexLock lock(mutex_);
  end_old(now);
  for (const auto& one : standing_) orders.push_back(one.order);
  return orders;
}

void ParkedOrders::end_old(TimePoint now) {
  const auto since = now - longest_;
  std::erase_if(standing_, [&](const Standing& one) { return one.last_came < since; });
  if (standing_.empty()) latest_.store(TimePoint{}, std::memory_order_relaxed);
}

}  // namespace laneway::lane
