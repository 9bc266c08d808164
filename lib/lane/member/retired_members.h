// Members of the process that new ones have replaced: how many records they abandoned, and those members
// whose handlers still work. Such a member has left its group; when the handlers have returned, it is freed.
//
// Threads: one, that of the service. Blocks for a moment for each member.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lane/member/consumer_loop.h"

namespace laneway::lane {

class RetiredMembers {
 public:
  using Members = std::vector<std::shared_ptr<ConsumerLoop>>;

  /// Takes over members that were asked to stop. Returns false if one of them hangs in its loop or in its
  /// client, so that it may still belong to the group.
  bool take(const Members& members);
  /// Frees the members whose handlers have returned. Returns true if none is left.
  bool all_freed();
  /// Records that the members abandoned.
  std::uint64_t abandoned() const { return abandoned_; }

 private:
  Members working_;
  std::uint64_t abandoned_ = 0;
};

}  // namespace laneway::lane
