// Members of the process that new ones have replaced: how many records they abandoned, and those members
// whose handlers still work. Such a member has left its group; when the handlers have returned, it is freed.
//
// Threads: one, that of the service. Blocks for a moment for each member.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "lane/member/consumer_loop.h"
#include "telemetry/log.h"

namespace laneway::lane {

class RetiredMembers {
 public:
  using Members = std::vector<std::shared_ptr<ConsumerLoop>>;

  /// Takes over members that were asked to stop. Returns false if one of them hangs in its loop or in its
  /// client, so that it may still belong to the group.
  bool take(const Members& members) {
    const auto hangs = [](const auto& member) {
      return !member->join(Deadline::in(milliseconds(100))) && !member->waits_for_handlers();
    };
    if (std::any_of(members.begin(), members.end(), hangs)) return false;
    for (const auto& member : members) {
      abandoned_ += member->abandoned();
      if (member->join(Deadline::in(Duration::zero()))) continue;
      working_.push_back(member);
      telemetry::warn("handlers of a replaced member still work",
                      {{"abandoned", member->abandoned()},
                       {"hint", "they take longer than lanes.drain; what they answer now does not count"}});
    }
    return true;
  }
  /// Frees the members whose handlers have returned. Returns true if none is left.
  bool all_freed() {
    const auto freed = std::erase_if(
        working_, [](const auto& member) { return member->join(Deadline::in(Duration::zero())); });
    if (freed > 0) telemetry::info("handlers of replaced members have returned", {{"members", freed}});
    return working_.empty();
  }
  /// Records that the members abandoned.
  std::uint64_t abandoned() const { return abandoned_; }

 private:
  Members working_;
  std::uint64_t abandoned_ = 0;
};

}  // namespace laneway::lane
