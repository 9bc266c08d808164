#include "lane/member/retired_members.h"

#include <algorithm>

#include "telemetry/log.h"

namespace laneway::lane {

bool RetiredMembers::take(const Members& members) {
  const auto hangs = [](const auto& member) {
    return !member->join(Deadline::in(milliseconds(100))) && !member->waits_for_handlers();
  };
  if (std::any_of(members.begin(), members.end(), hangs)) return false;
  for (const auto& member : members) {
    abandoned_ += member->abandoned();
    if (member->join(Deadline::in(Duration::zero()))) continue;
    working_.push_back(member);
    telemetry::warn("handlers of a replaced member still work",
                    {{"abandoned", member->abandoned()},
                     {"hint", "they take longer than lanes.drain; what they answer now does not count"}});
  }
  return true;
}

bool RetiredMembers::all_freed() {
  const auto freed = std::erase_if(
      working_, [](const auto& member) { return member->join(Deadline::in(Duration::zero())); });
  if (freed > 0) telemetry::info("handlers of replaced members have returned", {{"members", freed}});
  return working_.empty();
}

}  // namespace laneway::lane
