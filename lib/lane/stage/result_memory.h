// How many records of a pool may run, by the memory that their results will use in the next pool.
//
// A record of 1 kB may go on as an image of 5 MB, or as a thousand sub-jobs. The lane counts that memory when
// the results come, which is too late for the records that the pool has taken by then. So the pool takes no
// more records than there is memory for their results, by the largest results of late. The records that wait
// for the pool are not part of that memory: otherwise, when there are many, it would run one at a time.
//
// Threads: one. Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace laneway::lane {

class ResultMemory {
 public:
  static constexpr auto unlimited = std::numeric_limits<std::uint64_t>::max();

  /// A record has gone on, as results with so many bytes.
  void note(std::uint64_t bytes);
  /// The results of how many records fit into `bytes`; `unknown` as long as no record has gone on.
  std::uint64_t records(std::uint64_t bytes, std::uint64_t unknown) const;

 private:
  std::optional<std::uint64_t> largest_;  // of late: declines slowly
};

}  // namespace laneway::lane
