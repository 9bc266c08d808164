// The suspects of a lane: records that failed while the downstream worked for others, by their offsets. They
// are expected to fail again, so their failures show nothing about the downstream. Each commit carries them,
// so that the next owner of the partition knows them.
//
// Ownership, threads: one owner, one thread. Pure: no clock, no Kafka, nothing blocks. Bounded by the records
// of the lane that have failed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "lane/ledger/ledger.h"

namespace laneway::lane {

class Suspects {
 public:
  /// `offsets`: in rising order, as a commit stores them.
  explicit Suspects(std::vector<std::int64_t> offsets = {}) : offsets_(std::move(offsets)) {}
  const std::vector<std::int64_t>& offsets() const { return offsets_; }

  bool contains(std::int64_t offset) const {
    return std::binary_search(offsets_.begin(), offsets_.end(), offset);
  }
  /// Records that have failed, by offset: whether each is a suspect, as far as is known now.
  using Seen = std::map<std::int64_t, bool>;
  /// Takes over what was seen, and forgets the finished records. Suspects that were not seen stay suspects.
  void note(const Seen& seen, const Ledger& ledger) {
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
  /// The log was replaced by another one.
  void clear() {
    if (!offsets_.empty()) ++version_;
    offsets_.clear();
  }
  /// Changes when the suspects change.
  std::uint64_t version() const { return version_; }

 private:
  std::vector<std::int64_t> offsets_;  // in rising order
  std::uint64_t version_ = 0;
};

}  // namespace laneway::lane
