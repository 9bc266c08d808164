#include "lane/shared/lane_rate.h"

#include <algorithm>

namespace laneway::lane {

RateLimiter::Room LaneRate::room(TimePoint now) {
  RateLimiter::Room room;
  if (own_.limited()) room = own_.room(this, now);
  if (auto* process = of_process(); process != nullptr && !room.none())
    room = least(room, process->room(this, now));
  return room;
}

bool LaneRate::waits(TimePoint now) {
  auto* process = of_process();
  return (own_.limited() && own_.waits(this, now)) || (process != nullptr && process->waits(this, now));
}

void LaneRate::charge(std::uint64_t records, std::uint64_t bytes, TimePoint now) {
  if (own_.limited()) own_.charge(this, now, records, bytes);
  if (auto* process = of_process()) process->charge(this, now, records, bytes);
}

void LaneRate::leave(TimePoint now) {
  if (own_.limited()) own_.leave(this, now);
  if (auto* process = of_process()) process->leave(this, now);
}

TimePoint LaneRate::ready_at(TimePoint now) {
  auto at = own_.ready_at(this, now);
  if (auto* process = of_process()) at = std::max(at, process->ready_at(this, now));
  return at;
}

}  // namespace laneway::lane
