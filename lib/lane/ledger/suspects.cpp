#include "lane/ledger/suspects.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "lane/ledger/ledger.h"

namespace laneway::lane {
namespace {

constexpr std::string_view name_of_suspects = "failed=";

}  // namespace

Suspects Suspects::take(std::string_view& metadata, std::int64_t base) {
  Suspects suspects;
  if (!metadata.starts_with(name_of_suspects)) return suspects;
  const char* const end = metadata.data() + metadata.size();
  const char* at = metadata.data() + name_of_suspects.size();
  auto offset = base;
  for (char after = ','; after == ',';) {
    std::int64_t distance = 0;
    const auto [rest, error] = std::from_chars(at, end, distance);
    const bool first = suspects.offsets_.empty();
    if (error != std::errc() || rest == end || distance < (first ? 0 : 1)) return {};
    if (offset < 0 || distance > std::numeric_limits<std::int64_t>::max() - offset) return {};
    suspects.offsets_.push_back(offset += distance);
    after = *rest;
    if (after != ',' && after != ' ') return {};
    at = rest + 1;
  }
  metadata.remove_prefix(static_cast<std::size_t>(at - metadata.data()));
  return suspects;
}

std::string Suspects::text(std::int64_t base, std::size_t most_bytes) const {
  std::string text(name_of_suspects);
  auto last = base;
  for (const auto offset : offsets_) {
    if (offset < base) continue;
    const auto distance = std::to_string(offset - last);
    if (text.size() + distance.size() + 1 > most_bytes) break;
    text += distance + ',';
    last = offset;
  }
  if (text.size() == name_of_suspects.size()) return {};
  text.back() = ' ';
  return text;
}

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
