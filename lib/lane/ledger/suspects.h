// The suspects of a lane: records that failed while the downstream worked for others, by their offsets. They
// are expected to fail again, so their failures show nothing about the downstream. Each commit carries them,
// so that the next owner of the partition knows them.
//
// The text is "failed=3,1,12 ": the distance of the first offset from the committed offset, then that of each
// offset from the one before.
//
// Ownership, threads: one owner, one thread. Pure: no clock, no Kafka, nothing blocks. Bounded by the records
// of the lane that have failed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace laneway::lane {

class Ledger;

class Suspects {
 public:
  /// Removes the text from the front of the metadata of a commit of offset `base`. Leaves metadata that does
  /// not begin with such a text unchanged.
  static Suspects take(std::string_view& metadata, std::int64_t base);
  /// The text for a commit of offset `base`: the first suspects, as far as they fit into `most_bytes`; empty
  /// if there are none.
  std::string text(std::int64_t base, std::size_t most_bytes) const;

  bool contains(std::int64_t offset) const;
  /// Records that have failed, by offset: whether each is a suspect, as far as is known now.
  using Seen = std::map<std::int64_t, bool>;
  /// Takes over what was seen, and forgets the finished records. Suspects that were not seen stay suspects.
  void note(const Seen& seen, const Ledger& ledger);
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
