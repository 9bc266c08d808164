// Whether the metadata of a commit has room for the letters that a redrive sends while it leaves other
// letters: each run of neighbouring letters that are sent costs bytes of the completion map
// (lane/ledger/completion_map.h). The next redrive would send a letter again that does not fit.
//
// Pure. Letters must be given in the order of their offsets.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "lane/ledger/completion_map.h"

namespace laneway::dlq {

class MapRoom {
 public:
  /// A letter that stays. The map begins at the first such letter.
  void left(std::int64_t offset) {
    if (end_ < 0) end_ = offset;
    in_run_ = false;
  }
  /// True if the map has room to say that this letter was sent.
  bool has_room_for(std::int64_t offset) const { return used_ + cost(offset) <= bytes; }
  void sent(std::int64_t offset) {
    if (end_ < 0) return;
    used_ += cost(offset);
    length_ = in_run_ ? length_ + (offset + 1 - end_) : 1;
    end_ = offset + 1;
    in_run_ = true;
  }

 private:
  // Base64 has 3 bytes in 4 characters; of them 4 are the checksum, up to 9 the base, 9 characters the
  // prefix.
  static constexpr std::size_t bytes = (lane::default_map_bytes - 9) / 4 * 3 - 4 - 9;

  static std::size_t varint(std::int64_t number) {
    return (static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(number) | 1)) + 6) / 7;
  }
  std::size_t cost(std::int64_t offset) const {
    if (end_ < 0) return 0;
    const auto gap = offset - end_;
    return in_run_ ? varint(length_ + gap + 1) - varint(length_) : varint(gap) + 1;
  }

  std::size_t used_ = 0;
  std::int64_t end_ = -1;    // of the last run, or the begin of the map; -1: no letter was left yet
  std::int64_t length_ = 0;  // of the last run
  bool in_run_ = false;
};

}  // namespace laneway::dlq
