#include "lane/rate_limiter.h"

#include <cmath>

namespace laneway::lane {
namespace {

/// A grant that is not asked for is the others' after so long.
constexpr Duration grant_patience = seconds(2);
constexpr double lately = 8;  // records that the typical size is an average of

}  // namespace

void RateLimiter::change(const config::Rate& rate, TimePoint now) {
  MutexLock lock(mutex_);
  const double burst = to_seconds(rate.burst);
  records_.change(now, static_cast<double>(rate.records), static_cast<double>(rate.records) * burst);
  bytes_.change(now, static_cast<double>(rate.bytes), static_cast<double>(rate.bytes) * burst);
  grants_.clear();
  turn_.clear();  // they ask again
  limited_.store(rate.records > 0 || rate.bytes > 0, std::memory_order_relaxed);
}

RateLimiter::Room RateLimiter::room(Who who, TimePoint now) {
  MutexLock lock(mutex_);
  turn_.ask(who, now);
  auto& grant = grants_[who];
  grant.asked = now;
  if (grant.room.none()) serve(now);
  return grant.room;
}

bool RateLimiter::waits(Who who, TimePoint now) {
  MutexLock lock(mutex_);
  if (!turn_.takes_part(who)) return false;
  turn_.ask(who, now);
  auto& grant = grants_[who];
  grant.asked = now;
  if (grant.room.none()) serve(now);
  return grant.room.none();
}

void RateLimiter::charge(Who who, TimePoint now, std::uint64_t records, std::uint64_t bytes) {
  MutexLock lock(mutex_);
  if (records > 0)
    typical_bytes_ += (static_cast<double>(bytes) / static_cast<double>(records) - typical_bytes_) / lately;
  if (const auto found = grants_.find(who); found != grants_.end()) {
    auto& granted = found->second.room;
    const Room used = least(granted, Room{records, bytes});
    granted.records -= used.records;
    granted.bytes -= used.bytes;
    records -= used.records;
    bytes -= used.bytes;
  }
  if (records == 0 && bytes == 0) return;
  records_.take(now, static_cast<double>(records));
  bytes_.take(now, static_cast<double>(bytes));
  turn_.had(who, cost(static_cast<double>(records), static_cast<double>(bytes)));
}

void RateLimiter::leave(Who who, TimePoint now) {
  MutexLock lock(mutex_);
  if (const auto found = grants_.find(who); found != grants_.end()) (void)give_back(found, now);
}

TimePoint RateLimiter::ready_at(Who who, TimePoint now) {
  MutexLock lock(mutex_);
  if (!turn_.takes_part(who)) return now;
  const auto ahead = static_cast<double>(turn_.ahead_of(who));
  return std::max(records_.ready_at(now, ahead + 1), bytes_.ready_at(now, ahead * typical_bytes_ + 1));
}

/// Grants all that there is to those who take part.
void RateLimiter::serve(TimePoint now) {
  take_back_unused(now);
  while (any(now)) {
    const auto next = turn_.first(now);
    if (!next) return;
    grant(*next, now);
  }
}

bool RateLimiter::any(TimePoint now) {
  return (!records_.limited() || records_.available(now) >= 1) &&
         (!bytes_.limited() || bytes_.available(now) >= 1);
}

void RateLimiter::grant(Who who, TimePoint now) {
  const auto share = [among = static_cast<double>(turn_.size())](double available, double least) {
    return std::floor(std::max(available / among, least));
  };
  auto& room = grants_[who].room;
  const auto add = [](std::uint64_t& to, delivery::TokenBucket& from, TimePoint at, double tokens) {
    if (!from.limited()) {
      to = std::numeric_limits<std::uint64_t>::max();
      return 0.0;
    }
    to += static_cast<std::uint64_t>(tokens);
    from.take(at, tokens);
    return tokens;
  };
  const auto records = add(room.records, records_, now, share(records_.available(now), 1));
  // What a record has is known only afterwards, so a grant may leave a debt; the next one waits for it.
  const auto bytes =
      add(room.bytes, bytes_, now, share(bytes_.available(now), std::max(typical_bytes_, 1.0)));
  turn_.had(who, cost(records, bytes));
}

/// The grant is gone, and who had it takes part no longer.
RateLimiter::Grants::iterator RateLimiter::give_back(Grants::iterator grant, TimePoint now) {
  records_.take(now, -static_cast<double>(grant->second.room.records));
  bytes_.take(now, -static_cast<double>(grant->second.room.bytes));
  turn_.leave(grant->first);
  return grants_.erase(grant);
}

void RateLimiter::take_back_unused(TimePoint now) {
  if (now < next_look_) return;
  next_look_ = now + grant_patience / 2;
  for (auto grant = grants_.begin(); grant != grants_.end();)
    grant = now - grant->second.asked > grant_patience ? give_back(grant, now) : std::next(grant);
}

/// As a part of a second's rate.
double RateLimiter::cost(double records, double bytes) const {
  return std::max(records_.limited() ? records / records_.rate() : 0,
                  bytes_.limited() ? bytes / bytes_.rate() : 0);
}

}  // namespace laneway::lane
