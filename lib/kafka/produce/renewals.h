// How often a producer's client was replaced, and why.
//
// Threads: any. Nothing blocks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace laneway::kafka {

enum class Renewal : std::uint8_t {
  aborted,  ///< Its transaction was aborted.
  /// Its transaction was committed, but an unanswered request of the transaction may still arrive.
  unanswered,
  failed,  ///< The client failed permanently, outside any transaction.
};
/// The values of the label reason.
inline constexpr std::array renewal_reasons{"aborted", "unanswered", "failed"};
static_assert(renewal_reasons.size() == static_cast<std::size_t>(Renewal::failed) + 1);

class Renewals {
 public:
  void add(Renewal why) { counts_[static_cast<std::size_t>(why)].fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t count(Renewal why) const {
    return counts_[static_cast<std::size_t>(why)].load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::uint64_t>, renewal_reasons.size()> counts_{};
};

}  // namespace laneway::kafka
