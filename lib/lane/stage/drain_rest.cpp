#include "lane/stage/drain_rest.h"

#include <algorithm>

#include "handler/gathering.h"
#include "lane/stage/between_stages.h"

namespace laneway::lane {

std::vector<DrainRest::Entry> DrainRest::take_of_begun(LeavingRoom room) {
  std::vector<Entry> taken;
  // A pool that gathers may not run any more, and then the whole record is given back.
  const auto rest = std::remove_if(entries_.begin(), entries_.end(), [&](Entry& entry) {
    const auto& gathering = *entry.second.progress->gathering;
    if (room.none() || gathering.gatherer() >= 0 || !gathering.any_ended()) return false;
    room.take(origin_of(entry.second).size());
    taken.push_back(std::move(entry));
    return true;
  });
  entries_.erase(rest, entries_.end());
  return taken;
}

}  // namespace laneway::lane
