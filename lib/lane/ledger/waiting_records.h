// The records of a lane that wait outside the pool: for their next attempt, or for the breaker to let them
// begin.
//
// While the downstream is out, each probe is another record: alternately a record that has not been tried and
// the record that failed longest ago. Otherwise records that always fail (poison records) would take every
// turn. After a restart or a rebalance, such records are those that an earlier life left behind, so they come
// last.
//
// Ownership, threads: owns the waiting records; the lane's thread. Pure: the time is given in. Bounded by the
// lane.
#pragma once

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "delivery/retry/retry_queue.h"
#include "handler/record_batch.h"

namespace laneway::lane {

class WaitingRecords {
 public:
  void push(TimePoint due, handler::Item item) { failed_.push(due, std::move(item)); }
  /// The record has not begun, and may begin as soon as the breaker lets it.
  void withhold(handler::Item item) { (item.left_behind ? left_behind_ : fresh_).push_back(std::move(item)); }

  /// A record that may begin. `probing`: the downstream is out.
  std::optional<handler::Item> pop(TimePoint now, bool probing) {
    const bool failed_first = probing && !std::exchange(untried_next_, !untried_next_);
    if (failed_first || withheld() == 0)
      if (auto item = failed_.pop_due(now)) return item;
    return pop_front(fresh_.empty() ? left_behind_ : fresh_);
  }
  /// When the first record may begin; nullopt if none waits.
  std::optional<TimePoint> next_due() const {
    return withheld() == 0 ? failed_.next_due() : std::optional(TimePoint{});
  }
  /// When the record that `chosen` picks is due; nullopt if it picks none. O(n).
  template <class Chosen>
  std::optional<TimePoint> due_of(Chosen chosen) const {
    return failed_.due_of(chosen);
  }

  std::size_t size() const { return failed_.size() + withheld(); }
  /// The withheld records (the breaker has not let them begin) that no earlier life left behind.
  std::size_t fresh() const { return fresh_.size(); }

  /// Looks at all records, in no order.
  template <class Look>
  void each(Look look) const {
    failed_.each(look);
    for (const auto& item : fresh_) look(item);
    for (const auto& item : left_behind_) look(item);
  }
  /// Takes out the record that `chosen` picks; nullopt if it picks none. O(n).
  template <class Chosen>
  std::optional<handler::Item> take(Chosen chosen) {
    if (auto item = failed_.take(chosen)) return item;
    for (auto* items : {&fresh_, &left_behind_}) {
      const auto found = std::find_if(items->begin(), items->end(), chosen);
      if (found == items->end()) continue;
      std::optional<handler::Item> item(std::move(*found));
      items->erase(found);
      return item;
    }
    return {};
  }
  /// Takes out all records, in no order.
  std::vector<handler::Item> clear() {
    auto items = failed_.clear(&handler::Item::sequence);
    for (auto* waiting : {&fresh_, &left_behind_}) {
      std::move(waiting->begin(), waiting->end(), std::back_inserter(items));
      waiting->clear();
    }
    return items;
  }

 private:
  std::size_t withheld() const { return fresh_.size() + left_behind_.size(); }
  static std::optional<handler::Item> pop_front(std::deque<handler::Item>& items) {
    if (items.empty()) return {};
    std::optional<handler::Item> item(std::move(items.front()));
    items.pop_front();
    return item;
  }

  delivery::RetryQueue<handler::Item> failed_;
  std::deque<handler::Item> fresh_;        // withheld
  std::deque<handler::Item> left_behind_;  // withheld, too
  bool untried_next_ = true;
};

}  // namespace laneway::lane
