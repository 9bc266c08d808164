#include "lane/ledger/ledger.h"

#include <algorithm>
#include <bit>

namespace laneway::lane {
namespace {

constexpr std::uint64_t all_ones = ~std::uint64_t{0};
constexpr std::size_t fewest_words = 4;
constexpr std::size_t fewest_segments = 64;  // with fewer, unused segments are not worth removing

}  // namespace

std::uint32_t Ledger::complete(Sequence first, std::uint32_t count) {
  assert(first + count <= next_);
  const Sequence end = std::min<Sequence>(first + count, next_);
  first = std::max(first, oldest_);
  if (first >= end) return 0;
  auto newly = static_cast<std::uint32_t>(end - first);
  for (Sequence at = first; at < end; at = (at / 64 + 1) * 64) {
    auto mask = all_ones << (at % 64);
    if (at / 64 == end / 64) mask &= ~(all_ones << (end % 64));
    auto& bits = word_of(at);
    if ((bits & mask) != 0) newly -= static_cast<std::uint32_t>(std::popcount(bits & mask));
    bits |= mask;
  }
  completed_above_ += newly;
  newly_completed_ += newly;
  if (first == oldest_) {
    advance();
  } else if (newly > 0) {
    ++map_version_;
  }
  return newly;
}

void Ledger::advance() {
  while (oldest_ < next_) {
    auto& bits = word_of(oldest_);
    const auto done = std::countr_one(bits >> (oldest_ % 64));
    if (done == 0) break;
    oldest_ += static_cast<Sequence>(done);
    completed_above_ -= static_cast<Sequence>(done);
    if (oldest_ % 64 == 0) bits = 0;
  }
  while (first_segment_ + 1 < segments_.size() && segments_[first_segment_ + 1].first_sequence <= oldest_)
    ++first_segment_;
  if (first_segment_ >= fewest_segments && first_segment_ * 2 >= segments_.size()) {
    segments_.erase(segments_.begin(), segments_.begin() + static_cast<std::ptrdiff_t>(first_segment_));
    first_segment_ = 0;
  }
}

std::int64_t Ledger::offset_of(Sequence sequence) const {
  assert(sequence >= oldest_ && sequence < next_);
  const auto first = segments_.begin() + static_cast<std::ptrdiff_t>(first_segment_);
  const auto after =
      std::upper_bound(first + 1, segments_.end(), sequence,
                       [](Sequence s, const Segment& segment) { return s < segment.first_sequence; });
  const auto& segment = *(after - 1);
  return segment.first_offset + static_cast<std::int64_t>(sequence - segment.first_sequence);
}

std::optional<Sequence> Ledger::incomplete_at(std::int64_t offset) const {
  Sequence low = oldest_;
  for (Sequence high = next_; low < high;) {
    const Sequence middle = low + (high - low) / 2;
    if (offset_of(middle) < offset)
      low = middle + 1;
    else
      high = middle;
  }
  if (!is_incomplete(low) || offset_of(low) != offset) return {};
  return low;
}

/// The first record from `from` on that is (not) complete; next_ if there is none.
Sequence Ledger::find(bool complete, Sequence from) const {
  while (from < next_) {
    const auto wanted = (complete ? word_of(from) : ~word_of(from)) >> (from % 64);
    if (wanted != 0) return std::min(from + static_cast<Sequence>(std::countr_zero(wanted)), next_);
    from = (from / 64 + 1) * 64;
  }
  return next_;
}

std::uint64_t Ledger::restored_from(std::int64_t offset) const {
  offset = std::max(offset, position());
  std::int64_t records = 0;
  for (const auto& run : restored_.runs)
    records += std::max<std::int64_t>(0, run.end - std::max(run.begin, offset));
  return static_cast<std::uint64_t>(records);
}

CompletionMap Ledger::completed(std::size_t max_runs) const {
  CompletionMap map{committable(), {}};
  for (Sequence at = find(true, oldest_); at < next_ && map.runs.size() < max_runs; at = find(true, at)) {
    const Sequence end = find(false, at);
    map.runs.push_back({offset_of(at), offset_of(end - 1) + 1});
    at = end;
  }
  for (const auto& run : restored_.runs) {
    if (map.runs.size() == max_runs) break;
    if (run.end <= position()) continue;
    const OffsetRun still_to_come{std::max(run.begin, position()), run.end};
    if (!map.runs.empty() && map.runs.back().end == still_to_come.begin) {
      map.runs.back().end = still_to_come.end;
    } else {
      map.runs.push_back(still_to_come);
    }
  }
  return map;
}

void Ledger::grow() {
  const auto needed = (next_ - 1) / 64 - oldest_ / 64 + 1;
  std::vector<std::uint64_t> larger(std::bit_ceil(std::max<std::size_t>(needed, fewest_words)));
  auto at = oldest_;
  for (std::size_t i = 0; i < words_.size(); ++i, at += 64)
    larger[at / 64 & (larger.size() - 1)] = word_of(at);
  words_ = std::move(larger);
}

void Ledger::forget_restored() {
  if (position() >= restored_.runs.back().end) restored_.runs = {};
}

}  // namespace laneway::lane
