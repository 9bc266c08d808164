#include "lane/stage/result_memory.h"

#include <algorithm>

namespace laneway::lane {

void ResultMemory::note(std::uint64_t bytes) {
  constexpr std::uint64_t decline = 64;  // after so many small results, about a third of a large one is left
  const auto last = largest_.value_or(0);
  largest_ = std::max(bytes, last - (last + decline - 1) / decline);
}

std::uint64_t ResultMemory::records(std::uint64_t bytes, std::uint64_t unknown) const {
  if (!largest_) return unknown;
  return *largest_ == 0 ? unlimited : bytes / *largest_;
}

}  // namespace laneway::lane
