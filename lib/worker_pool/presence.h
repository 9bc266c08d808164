// How many threads a crew has, how many of them sleep (parked) or look for work (searching), and whether a
// sleeper watches (crew.h), in one atomic word: a submitter reads it once to know whether somebody must be
// woken. A plain value.
#pragma once

#include <cstdint>

namespace laneway::worker_pool {

struct Presence {
  static constexpr std::uint64_t thread = 1;
  static constexpr std::uint64_t parked = std::uint64_t{1} << 20;
  static constexpr std::uint64_t searching = std::uint64_t{1} << 40;
  static constexpr std::uint64_t watched = std::uint64_t{1} << 60;
  static constexpr std::uint32_t most = (1U << 20) - 1;

  std::uint64_t word;

  std::uint32_t threads() const { return word & most; }
  std::uint32_t sleepers() const { return (word >> 20) & most; }
  std::uint32_t searchers() const { return (word >> 40) & most; }
  bool has_watcher() const { return (word & watched) != 0; }
  std::uint32_t awake() const { return threads() - sleepers(); }
};

}  // namespace laneway::worker_pool
