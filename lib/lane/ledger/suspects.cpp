#include "lane/ledger/suspects.h"

#include <algorithm>
#include <utility>

#include "lane/ledger/ledger.h"

namespace laneway::lane {
bool Suspects::contains(std::int64_t offset) const {
  return !offsets_.empty() && std::binary_search(offsets_.begin(), offsets_.end(), offset);
}

void Suspects::note(const Seen& seen, const Ledger& ledger) {
  std::vector<std::int64_t> offsets;
  for (const auto& [offset, suspect] : seen)
    if (suspect) offsets.push_back(offset);
  for (const auto offset : offsets_) {
    const bool finished = ledger.would_go_back(offset) && !ledger.incomplete_at(offset);
    if (!finished && !seen.contains(offset)) offsets.push_back(offset);
  }
  std::sort(offsets.begin(), offsets.end());
  if (offsets == offsets_) return;
  offsets_ = std::move(offsets);
  ++version_;
}

}  // namespace laneway::lane
