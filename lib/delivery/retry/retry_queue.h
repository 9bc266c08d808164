// Items that wait for their next attempt, ordered by the time when they are due, first in first out among
// equals.
//
// A binary heap: push and pop_due cost O(log n), a look is free. Bounded by the caller; many thousands may
// wait, so the queue uses no more memory than its items need. Ownership, threads: owns the waiting items; one
// owner, one thread. Pure: the time is given in; nothing blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/time.h"

namespace laneway::delivery {

template <class T>
class RetryQueue {
 public:
  void push(TimePoint due, T value) {
    heap_.push_back({due, pushed_++, std::move(value)});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }

  /// The item that has been due for longest; nullopt if none is due at `now`.
  std::optional<T> pop_due(TimePoint now) {
    if (heap_.empty() || heap_.front().due > now) return {};
    std::pop_heap(heap_.begin(), heap_.end(), later);
    std::optional<T> value(std::move(heap_.back().value));
    heap_.pop_back();
    return value;
  }

  /// When the next item is due; nullopt if none waits.
  std::optional<TimePoint> next_due() const {
    if (heap_.empty()) return {};
    return heap_.front().due;
  }

  std::size_t size() const { return heap_.size(); }

  /// When the item that `chosen` picks is due; nullopt if it picks none. O(n).
  template <class Chosen>
  std::optional<TimePoint> due_of(Chosen chosen) const {
    const auto found =
        std::find_if(heap_.begin(), heap_.end(), [&](const Entry& entry) { return chosen(entry.value); });
    if (found == heap_.end()) return {};
    return found->due;
  }

  /// Takes out the item that `chosen` picks, due or not; nullopt if it picks none. O(n).
  template <class Chosen>
  std::optional<T> take(Chosen chosen) {
    const auto found =
        std::find_if(heap_.begin(), heap_.end(), [&](const Entry& entry) { return chosen(entry.value); });
    if (found == heap_.end()) return {};
    std::optional<T> value(std::move(found->value));
    if (found != heap_.end() - 1) *found = std::move(heap_.back());
    heap_.pop_back();
    std::make_heap(heap_.begin(), heap_.end(), later);
    return value;
  }

  /// Takes out all items that `chosen` picks, due or not. O(n).
  template <class Chosen>
  std::vector<T> take_all(Chosen chosen) {
    const auto first = std::stable_partition(heap_.begin(), heap_.end(),
                                             [&](const Entry& entry) { return !chosen(entry.value); });
    std::vector<T> values;
    for (auto entry = first; entry != heap_.end(); ++entry) values.push_back(std::move(entry->value));
    heap_.erase(first, heap_.end());
    std::make_heap(heap_.begin(), heap_.end(), later);
    return values;
  }

  /// Moves the items that `chosen` picks into another queue, with the times when they are due. O(n).
  template <class Chosen>
  void move_to(RetryQueue& other, Chosen chosen) {
    const auto first = std::stable_partition(heap_.begin(), heap_.end(),
                                             [&](const Entry& entry) { return !chosen(entry.value); });
    for (auto entry = first; entry != heap_.end(); ++entry) other.push(entry->due, std::move(entry->value));
    heap_.erase(first, heap_.end());
    std::make_heap(heap_.begin(), heap_.end(), later);
  }

  /// Looks at all items, in no order.
  template <class Look>
  void each(Look look) const {
    for (const Entry& entry : heap_) look(entry.value);
  }

  /// Takes out all items, due or not, in rising order of `rank` of a T: a function or a member
  /// (&Item::sequence).
  template <class Rank>
  std::vector<T> clear(Rank rank) {
    std::vector<T> values;
    values.reserve(heap_.size());
    for (Entry& entry : heap_) values.push_back(std::move(entry.value));
    heap_.clear();
    std::sort(values.begin(), values.end(),
              [&](const T& a, const T& b) { return std::invoke(rank, a) < std::invoke(rank, b); });
    return values;
  }

 private:
  struct Entry {
    TimePoint due;
    std::uint64_t order;
    T value;
  };
  static bool later(const Entry& a, const Entry& b) {
    return a.due != b.due ? a.due > b.due : a.order > b.order;
  }

  std::deque<Entry>
      heap_;  // not a vector: a vector uses twice the memory while it grows, and never gives it back
  std::uint64_t pushed_ = 0;
};

}  // namespace laneway::delivery
