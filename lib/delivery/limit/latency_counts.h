// How long the calls of a window took, without the few that take much longer than the others.
//
// A queue delays all calls alike, so the quicker calls show it. The average of all shows rather how many
// calls happened to be slow: if one call in a hundred takes a hundred times as long as the others, half of
// the average is due to those. So the slowest quarter is left out, as Envoy's gradient controller does with
// all but the median.
//
// Calls are counted in classes of a sixteenth of an octave, with the sum of each class. Pure; one owner; not
// thread-safe. Seconds are doubles here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace laneway::delivery {

class LatencyCounts {
 public:
  void add(double latency, std::uint32_t calls);
  void clear() { *this = {}; }

  struct Quicker {
    double average = 0;    ///< of the quicker calls; 0 without calls
    double variation = 0;  ///< times 1/√calls, the standard error of the average, in shares of it
  };
  /// `counted`: share of the calls.
  Quicker quicker(double counted = 0.75) const;

 private:
  struct Class {
    std::uint64_t calls = 0;
    double seconds = 0;
  };

  static constexpr std::size_t in_octave = 16;
  static constexpr std::size_t octaves = 34;  // from a microsecond to more than four hours

  std::array<Class, octaves * in_octave> classes_{};
  std::size_t first_ = octaves * in_octave;  // of the classes that have calls
  std::uint64_t calls_ = 0;
};

}  // namespace laneway::delivery
