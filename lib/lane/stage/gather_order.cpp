#include "lane/stage/gather_order.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "lane/batch/work_batch.h"

namespace laneway::lane {

void GatherOrder::expect(std::uint64_t key, Sequence sequence) {
  if (expected_.size() >= forget_at_) forget_complete();
  expected_.try_emplace({key, sequence});
}

/// Complete records are otherwise found only when a later one of their key comes.
void GatherOrder::forget_complete() {
  std::erase_if(expected_, [&](const auto& entry) {
    return !entry.second && !ledger_.is_incomplete(entry.first.second);
  });
  forget_at_ = std::max(forget_at_, 2 * expected_.size());
}

void GatherOrder::arrive(std::uint64_t key, handler::Item item, std::vector<handler::Item>& ready) {
  const auto place = expected_.find({key, item.sequence});
  if (place == expected_.end()) return ready.push_back(std::move(item));
  bytes_ += memory_of(item);
  place->second = std::move(item);
  auto& waiting = waiting_[key];
  waiting += 1;
  waiting -= release(key, ready);
  if (waiting == 0) waiting_.erase(key);
}

/// Returns how many records no longer wait.
std::size_t GatherOrder::release(std::uint64_t key, std::vector<handler::Item>& ready) {
  std::size_t released = 0;
  for (auto entry = expected_.lower_bound({key, 0}); entry != expected_.end() && entry->first.first == key;) {
    auto& [place, item] = *entry;
    if (item) {
      bytes_ -= memory_of(*item);
      ready.push_back(std::move(*item));
      ++released;
    } else if (ledger_.is_incomplete(place.second)) {
      break;
    }
    entry = expected_.erase(entry);
  }
  return released;
}

void GatherOrder::release(std::vector<handler::Item>& ready) {
  if (waiting_.empty() || done_ == ledger_.done()) return;
  done_ = ledger_.done();
  for (auto waiting = waiting_.begin(); waiting != waiting_.end();) {
    auto& [key, records] = *waiting;
    records -= release(key, ready);
    waiting = records == 0 ? waiting_.erase(waiting) : std::next(waiting);
  }
}

void GatherOrder::clear() {
  expected_.clear();
  waiting_.clear();
  bytes_ = 0;
  done_ = 0;
}

}  // namespace laneway::lane
