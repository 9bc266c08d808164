// How many records may leave a lane at a time: each is a whole copy until its topic has acknowledged it, also
// a sub-job that shares the value of its record with others.
#pragma once

#include <algorithm>
#include <cstdint>

namespace laneway::lane {

class LeavingRoom {
 public:
  LeavingRoom(std::uint64_t records, std::uint64_t bytes) : records_(records), bytes_(bytes) {}

  bool none() const { return records_ == 0 || bytes_ == 0; }
  /// A single record may be larger than what is left.
  void take(std::uint64_t size) {
    --records_;
    bytes_ -= std::min(bytes_, size);
  }

 private:
  std::uint64_t records_;
  std::uint64_t bytes_;
};

}  // namespace laneway::lane
