#include "lane/stage/drain_rest.h"

#include <algorithm>
#include <iterator>

#include "handler/gathering.h"

namespace laneway::lane {

std::vector<DrainRest::Entry> DrainRest::take_of_begun(std::size_t most) {
  // A pool that gathers may not run any more, and then the whole record is given back.
  auto first = std::partition(entries_.begin(), entries_.end(), [](const Entry& entry) {
    const auto& gathering = *entry.second.progress->gathering;
    return gathering.gatherer() >= 0 || !gathering.any_ended();
  });
  first += std::max<std::ptrdiff_t>(entries_.end() - first - static_cast<std::ptrdiff_t>(most), 0);
  std::vector<Entry> taken(std::make_move_iterator(first), std::make_move_iterator(entries_.end()));
  entries_.erase(first, entries_.end());
  return taken;
}

}  // namespace laneway::lane
