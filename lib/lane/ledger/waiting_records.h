// The records of a lane that wait outside the pool: for their next attempt, or for the breaker to let them
// begin.
//
// While the downstream is out, each probe is another record: alternately a record that has not been tried and
// the record that failed longest ago. Otherwise records that always fail (poison records) would take every
// turn. Of the records that have not been tried, those that an earlier life left behind come last. Suspects,
// which failed while the downstream worked, are no probes as long as another record waits.
//
// A record that a retry topic or the dead-letter topic has not taken waits for that topic, and not for the
// downstream.
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
  void push(TimePoint due, handler::Item item, bool suspect = false) {
    auto& waiting = item.route() != handler::Route::work ? unwritten_ : suspect ? suspects_ : failed_;
    waiting.push(due, std::move(item));
  }
  /// The record has not begun, and may begin as soon as the breaker lets it.
  void withhold(handler::Item item) {
    if (item.suspect) return suspects_.push(TimePoint{}, std::move(item));
    (item.left_behind ? left_behind_ : fresh_).push_back(std::move(item));
  }
  /// An outage has become known: suspects that failed because of it are no suspects any more.
  template <class IsSuspect>
  void acquit(IsSuspect is_suspect) {
    suspects_.move_to(failed_, [&](const handler::Item& item) { return !is_suspect(item); });
  }

  /// A record that is to be written to its topic again.
  std::optional<handler::Item> pop_unwritten(TimePoint now) { return unwritten_.pop_due(now); }
  /// A record that may begin. `probing`: the downstream is out.
  std::optional<handler::Item> pop(TimePoint now, bool probing) {
    const bool failed_first = probing && !std::exchange(untried_next_, !untried_next_);
    if (failed_first || withheld() == 0)
      if (auto item = pop_failed(now, probing)) return item;
    return pop_front(fresh_.empty() ? left_behind_ : fresh_);
  }
  /// When the first record may begin; nullopt if none waits. `probing`: as for pop().
  std::optional<TimePoint> next_due(bool probing) const {
    if (!fresh_.empty() || !left_behind_.empty()) return TimePoint{};
    const auto earlier = [](std::optional<TimePoint> a, std::optional<TimePoint> b) {
      return a && b ? std::min(*a, *b) : a ? a : b;
    };
    const auto failed = failed_.next_due();
    const auto suspect = probing && failed ? std::nullopt : suspects_.next_due();
    return earlier(unwritten_.next_due(), earlier(failed, suspect));
  }
  /// When the record that `chosen` picks is due; nullopt if it picks none. O(n).
  template <class Chosen>
  std::optional<TimePoint> due_of(Chosen chosen) const {
    for (const auto* waiting : {&failed_, &suspects_})
      if (const auto due = waiting->due_of(chosen)) return due;
    return unwritten_.due_of(chosen);
  }

  std::size_t size() const { return failed_.size() + suspects_.size() + unwritten_.size() + withheld(); }
  bool only_suspects() const { return failed_.size() + withheld() == 0; }
  /// The withheld records (the breaker has not let them begin) that no earlier life left behind.
  std::size_t fresh() const { return fresh_.size(); }

  /// Looks at all records, in no order.
  template <class Look>
  void each(Look look) const {
    failed_.each(look);
    suspects_.each(look);
    unwritten_.each(look);
    for (const auto& item : fresh_) look(item);
    for (const auto& item : left_behind_) look(item);
  }
  /// Takes out the record that `chosen` picks; nullopt if it picks none. O(n).
  template <class Chosen>
  std::optional<handler::Item> take(Chosen chosen) {
    if (auto item = failed_.take(chosen)) return item;
    if (auto item = suspects_.take(chosen)) return item;
    if (auto item = unwritten_.take(chosen)) return item;
    for (auto* items : {&fresh_, &left_behind_}) {
      const auto found = std::find_if(items->begin(), items->end(), chosen);
      if (found == items->end()) continue;
      std::optional<handler::Item> item(std::move(*found));
      items->erase(found);
      return item;
    }
    return {};
  }
  /// Takes out the records that `chosen` picks and that no breaker withholds, in no order. O(n).
  template <class Chosen>
  std::vector<handler::Item> take_all(Chosen chosen) {
    auto items = failed_.take_all(chosen);
    for (auto* waiting : {&suspects_, &unwritten_}) {
      auto more = waiting->take_all(chosen);
      std::move(more.begin(), more.end(), std::back_inserter(items));
    }
    return items;
  }
  /// Takes out all records, in no order.
  std::vector<handler::Item> clear() {
    auto items = failed_.clear(&handler::Item::sequence);
    for (auto* waiting : {&suspects_, &unwritten_}) {
      auto more = waiting->clear(&handler::Item::sequence);
      std::move(more.begin(), more.end(), std::back_inserter(items));
    }
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

  std::optional<handler::Item> pop_failed(TimePoint now, bool probing) {
    if (probing) return only_suspects() ? suspects_.pop_due(now) : failed_.pop_due(now);
    const auto failed = failed_.next_due();
    const auto suspect = suspects_.next_due();
    return failed && (!suspect || *failed <= *suspect) ? failed_.pop_due(now) : suspects_.pop_due(now);
  }

  delivery::RetryQueue<handler::Item> failed_;
  delivery::RetryQueue<handler::Item> suspects_;  // these have failed, too, or are withheld
  delivery::RetryQueue<handler::Item> unwritten_;
  std::deque<handler::Item> fresh_;        // withheld
  std::deque<handler::Item> left_behind_;  // withheld, too
  bool untried_next_ = true;
};

}  // namespace laneway::lane
