#include "lane/shared/rate_limiter.h"

#include <cmath>

#include "telemetry/log.h"

namespace laneway::lane {
namespace {

/// A grant that its owner does not ask for goes to the others after this time.
constexpr Duration grant_patience = seconds(2);
constexpr double lately = 8;  // the number of records that the typical size is averaged over

}  // namespace

void RateLimiter::change(const config::Rate& rate, TimePoint now) {
  MutexLock lock(mutex_);
  const double burst = to_seconds(rate.burst);
  records_.change(now, static_cast<double>(rate.records), static_cast<double>(rate.records) * burst);
  bytes_.change(now, static_cast<double>(rate.bytes), static_cast<double>(rate.bytes) * burst);
  grants_.clear();
  turn_.clear();  // the askers ask again
  has_rate_ = rate.records > 0 || rate.bytes > 0;
  note_pace();
}

void RateLimiter::throttled(std::optional<Duration> after, bool again, TimePoint now) {
  MutexLock lock(mutex_);
  const bool was_limited = pace_.limited();
  const double before = pace_.rate();
  pace_.throttled(now, after, again);
  if (!was_limited || pace_.rate() != before) {
    for (const auto& [who, grant] : grants_) {
      records_.take(now, -static_cast<double>(grant.room.records));
      bytes_.take(now, -static_cast<double>(grant.room.bytes));
    }
    grants_.clear();
    turn_.clear();  // the askers ask again
  }
  note_pace();
}

void RateLimiter::worked(std::uint64_t records, TimePoint now) {
  MutexLock lock(mutex_);
  pace_.succeeded(now, records);
}

double RateLimiter::pace(TimePoint now) {
  MutexLock lock(mutex_);
  (void)pace_.ready_at(now);  // the pace may be over
  note_pace();
  return pace_.slows(now) ? pace_.rate() : 0;
}

std::uint64_t RateLimiter::most_within(Duration time, TimePoint now) {
  MutexLock lock(mutex_);
  double most = std::numeric_limits<std::uint32_t>::max();
  const auto limit = [&](delivery::TokenBucket& bucket, double each) {
    if (bucket.limited())
      most = std::min(most, (bucket.available(now) + bucket.rate() * to_seconds(time)) / each);
  };
  limit(records_, 1);
  limit(bytes_, std::max(typical_bytes_, 1.0));
  if (pace_.limited()) most = std::min(most, pace_.rate() * to_seconds(time));
  return static_cast<std::uint64_t>(std::max(most, 0.0));
}

void RateLimiter::note_pace() {
  const bool keeps = pace_.limited();
  limited_.store(has_rate_ || keeps, std::memory_order_relaxed);
  if (keeps_pace_.exchange(keeps, std::memory_order_relaxed) == keeps) return;
  if (keeps)
    telemetry::log(
        telemetry::Level::warn, "downstream asks for fewer calls",
        {{"hint", "fewer records begin until the downstream accepts more calls (docs/outages.md)"}});
  else
    telemetry::log(telemetry::Level::info, "calls are no longer slowed down");
}

/// Whether nothing limits now, so that no asker has to wait for a turn.
bool RateLimiter::open(TimePoint now) {
  if (has_rate_ || pace_.room(now) != delivery::Pace::unlimited) return false;
  note_pace();
  return true;
}

RateLimiter::Room RateLimiter::room(Who who, TimePoint now) {
  MutexLock lock(mutex_);
  return open(now) ? Room{} : ask(who, now);
}

RateLimiter::Room RateLimiter::ask(Who who, TimePoint now) {
  turn_.ask(who, now);
  auto& grant = grants_[who];
  grant.asked = now;
  if (grant.room.none()) serve(now);
  return grant.room;
}

bool RateLimiter::waits(Who who, TimePoint now) {
  MutexLock lock(mutex_);
  return !open(now) && turn_.takes_part(who) && ask(who, now).none();
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
  take_records(now, static_cast<double>(records));
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
  return std::max({records_.ready_at(now, ahead + 1), pace_.ready_at(now, ahead + 1),
                   bytes_.ready_at(now, ahead * typical_bytes_ + 1)});
}

/// Grants everything that is available to the askers.
void RateLimiter::serve(TimePoint now) {
  take_back_unused(now);
  while (any(now)) {
    const auto next = turn_.first(now);
    if (!next) return;
    grant(*next, now);
  }
}

double RateLimiter::available_records(TimePoint now) {
  const double at_pace = pace_.room(now);
  if (keeps_pace() && !pace_.limited()) note_pace();  // the pace has ended
  return records_.limited() ? std::min(records_.available(now), at_pace) : at_pace;
}

void RateLimiter::take_records(TimePoint now, double records) {
  records_.take(now, records);
  pace_.begin(now, records);
}

bool RateLimiter::any(TimePoint now) {
  return available_records(now) >= 1 && (!bytes_.limited() || bytes_.available(now) >= 1);
}

void RateLimiter::grant(Who who, TimePoint now) {
  const auto share = [among = static_cast<double>(turn_.size())](double available, double least) {
    return std::floor(std::max(available / among, least));
  };
  auto& room = grants_[who].room;
  const auto add = [](std::uint64_t& to, bool limited, double tokens) {
    to = limited ? to + static_cast<std::uint64_t>(tokens) : std::numeric_limits<std::uint64_t>::max();
    return limited ? tokens : 0.0;
  };
  const auto records = add(room.records, limits_records(), share(available_records(now), 1));
  // A record's size is known only afterwards, so a grant may leave a debt; the next grant waits for it.
  const auto bytes =
      add(room.bytes, bytes_.limited(), share(bytes_.available(now), std::max(typical_bytes_, 1.0)));
  take_records(now, records);
  bytes_.take(now, bytes);
  turn_.had(who, cost(records, bytes));
}

/// Takes the grant away; its owner takes part no longer.
RateLimiter::Grants::iterator RateLimiter::give_back(Grants::iterator grant, TimePoint now) {
  take_records(now, -static_cast<double>(grant->second.room.records));
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

/// The cost as a part of a second's rate.
double RateLimiter::cost(double records, double bytes) const {
  return std::max({records_.limited() ? records / records_.rate() : 0,
                   pace_.rate() > 0 ? records / pace_.rate() : 0,
                   bytes_.limited() ? bytes / bytes_.rate() : 0});
}

}  // namespace laneway::lane
