// Decides whose turn it is among participants that share something: of those that ask, the participant that
// has had least, and among equals the participant that has waited longest.
//
// A new participant begins with the amount of the participant that has had least: there is no credit for
// having been idle. A participant that comes back begins at least with what it had when it left, because
// participants that come and go would otherwise always go before one that waits. A participant asks again
// from time to time; one that has not asked for `patience` is removed when its turn comes, so that a
// participant that has left silently delays nobody.
//
// Pure: the caller gives the time, which must not go back. One owner; not thread-safe. Each call costs O(log
// n) at most, or O(n) if a participant is new; bounded by the number of participants.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/time.h"

namespace laneway {

template <class Who>
class FairTurn {
 public:
  explicit FairTurn(Duration limit = seconds(2)) : patience_(limit) {}

  /// `who` takes part from now on; an existing participant keeps its place.
  void ask(const Who& who, TimePoint now) {
    const auto found = members_.find(who);
    if (found != members_.end()) {
      found->second.asked = now;
      return;
    }
    if (line_.empty()) left_.clear();
    const double least = line_.empty() ? 0 : line_.begin()->had;
    std::erase_if(left_, [&](const auto& left) { return left.second <= least; });
    const auto before = left_.find(who);
    const LinePosition place{before == left_.end() ? least : before->second, next_ticket_++, who};
    line_.insert(place);
    members_.emplace(who, Member{place, now});
  }
  void leave(const Who& who) {
    const auto found = members_.find(who);
    if (found == members_.end()) return;
    left_[who] = found->second.place.had;
    line_.erase(found->second.place);
    members_.erase(found);
  }
  /// The participant whose turn it is; nullopt if there is none.
  std::optional<Who> first(TimePoint now) {
    while (!line_.empty()) {
      const Who who = line_.begin()->who;
      if (now - members_.at(who).asked <= patience_) return who;
      leave(who);
    }
    return std::nullopt;
  }
  /// `who` has had this amount, in any unit, and still takes part. A negative amount was given back.
  void had(const Who& who, double amount) {
    const auto found = members_.find(who);
    if (found == members_.end()) return;
    auto& place = found->second.place;
    line_.erase(place);
    place.had += amount;
    place.ticket = next_ticket_++;
    line_.insert(place);
  }

  bool takes_part(const Who& who) const { return members_.contains(who); }
  std::size_t size() const { return line_.size(); }
  /// The approximate number of participants whose turn comes before that of `who`, which takes part.
  std::size_t ahead_of(const Who& who) const {
    const auto& place = members_.at(who).place;
    const auto& first = *line_.begin();
    if (place.had > first.had) return line_.size() - 1;
    return std::min<std::size_t>(place.ticket - first.ticket, line_.size() - 1);
  }
  void clear() {
    line_.clear();
    members_.clear();
    left_.clear();
  }

 private:
  struct LinePosition {
    double had;
    std::uint64_t ticket;
    Who who;

    friend bool operator<(const LinePosition& a, const LinePosition& b) {
      return std::tie(a.had, a.ticket) < std::tie(b.had, b.ticket);
    }
  };
  struct Member {
    LinePosition place;
    TimePoint asked;
  };

  const Duration patience_;
  std::set<LinePosition> line_;
  std::map<Who, Member> members_;
  std::map<Who, double> left_;  // more than the least amount, by participants that have left
  std::uint64_t next_ticket_ = 0;
};

}  // namespace laneway
