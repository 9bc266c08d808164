#include "lane/shared/lane_rate.h"

#include <algorithm>

namespace laneway::lane {

RateLimiter::Room LaneRate::room(TimePoint now) {
  RateLimiter::Room room;
  if (own_.limited()) room = own_.room(this, now);
  if (auto* shared = limiting(); shared != nullptr && !room.none())
    room = least(room, shared->room(this, now));
  return room;
}

bool LaneRate::waits(TimePoint now) {
  auto* shared = limiting();
  return (own_.limited() && own_.waits(this, now)) || (shared != nullptr && shared->waits(this, now));
}

void LaneRate::charge(std::uint64_t records, std::uint64_t bytes, TimePoint now) {
  if (own_.limited()) own_.charge(this, now, records, bytes);
  if (auto* shared = limiting()) shared->charge(this, now, records, bytes);
}

void LaneRate::leave(TimePoint now) {
  if (own_.limited()) own_.leave(this, now);
  if (auto* shared = limiting()) shared->leave(this, now);
}

TimePoint LaneRate::ready_at(TimePoint now) {
  auto at = own_.ready_at(this, now);
  if (auto* shared = limiting()) at = std::max(at, shared->ready_at(this, now));
  return at;
}

}  // namespace laneway::lane
