// Order by key: the records of one key run one at a time, or as one sequential batch, in order of delivery,
// also across retries, while records of other keys pass. Order by partition is the same with one key for all
// records.
//
// A key is active from the admit() that returns true until the release() that yields nothing; meanwhile
// further records of the key wait here. Keys are known by their hash: two keys with the same hash are ordered
// among each other, which is harmless.
//
// Structure: an open-addressing table (linear probing, backward-shift deletion: Knuth, TAOCP vol. 3, 6.4,
// algorithm R) of the active keys, each with a list of its waiting items, in nodes that are reused. No
// allocation per record once the table has its size, and none at all before the first record. Bounded by the
// caller (the ledger's window). Ownership, threads: owns the waiting items; one owner, one thread. Pure:
// nothing blocks.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace laneway::lane {

template <class Item>
class KeyOrder {
 public:
  static constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

  /// Returns true if the key was not active: the items are left as they are, to be run now (several: one
  /// after the other). Returns false if the items were moved in and wait behind those of their key.
  bool admit(std::uint64_t key, std::span<Item> items) {
    if ((keys_ + 1) * 2 > slots_.size()) grow();
    Slot& slot = slots_[find(key)];
    if (slot.head == vacant) {
      slot = {key, none, none};
      ++keys_;
      return true;
    }
    for (Item& item : items) append(slot, item);
    return false;
  }
  bool admit(std::uint64_t key, Item& item) { return admit(key, std::span<Item>(&item, 1)); }

  /// The running items of this key are complete. Moves the first `limit` of the waiting items to the end of
  /// `next`, to be run now one after the other, and returns their number. Returns 0 if no item waits; the key
  /// is then no longer active.
  std::size_t release(std::uint64_t key, std::vector<Item>& next, std::size_t limit = all) {
    const auto index = find_at_work(key);
    Slot& slot = slots_[index];
    const auto taken = take(slot, next, limit);
    if (taken == 0) erase(index);
    return taken;
  }

  /// Items of an active key that were not started wait again, before all others of their key.
  void give_back(std::uint64_t key, std::span<Item> items) {
    Slot& slot = slots_[find_at_work(key)];
    for (std::size_t i = items.size(); i > 0; --i) {
      const auto node = allocate(items[i - 1]);
      nodes_[node].next = slot.head;
      if (slot.head == none) slot.tail = node;
      slot.head = node;
    }
  }

  /// Items that wait.
  std::size_t waiting() const { return waiting_; }
  /// Active keys.
  std::size_t keys() const { return keys_; }

  /// The length of the longest queue behind one key. Looks at every waiting item.
  std::size_t longest() const {
    std::size_t longest = 0;
    for (const Slot& slot : slots_) {
      std::size_t length = 0;
      for (auto node = slot.head; node < vacant; node = nodes_[node].next) ++length;
      longest = std::max(longest, length);
    }
    return longest;
  }

  /// Returns the waiting items, except the first `keep` of each key: each key's items in their order, the
  /// keys in no order. Active keys stay active.
  std::vector<Item> clear(std::size_t keep = 0) {
    std::vector<Item> items, kept;
    items.reserve(waiting_);
    for (Slot& slot : slots_) {
      if (slot.head == vacant) continue;
      take(slot, kept, keep);
      take(slot, items, all);
      for (Item& item : kept) append(slot, item);
      kept.clear();
    }
    return items;
  }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t vacant = none - 1;

  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t head = vacant;  // vacant: no active key; none: no item waits
    std::uint32_t tail = none;    // the last waiting item, if any
  };
  struct Node {
    Item item;
    std::uint32_t next;
  };

  std::size_t mask() const { return slots_.size() - 1; }
  // The upper bits of the product depend on all bits of the key, so a weak hash does no harm (Knuth, 6.4).
  std::size_t home(std::uint64_t key) const { return (key * 0x9E3779B97F4A7C15U) >> shift_; }

  /// The key's slot, or the vacant one where it belongs.
  std::size_t find(std::uint64_t key) const {
    auto index = home(key);
    while (slots_[index].head != vacant && slots_[index].key != key) index = (index + 1) & mask();
    return index;
  }

  std::size_t find_at_work(std::uint64_t key) const {
    assert(keys_ > 0);
    const auto index = find(key);
    assert(slots_[index].head != vacant);
    return index;
  }

  void erase(std::size_t hole) {
    for (auto index = (hole + 1) & mask(); slots_[index].head != vacant; index = (index + 1) & mask()) {
      const auto distance = (index - home(slots_[index].key)) & mask();
      if (distance < ((index - hole) & mask())) continue;  // otherwise the slot would lie before its home
      slots_[hole] = slots_[index];
      hole = index;
    }
    slots_[hole] = {};
    --keys_;
  }

  void grow() {
    constexpr std::size_t smallest = 8;
    auto old = std::exchange(slots_, std::vector<Slot>(slots_.empty() ? smallest : slots_.size() * 2));
    shift_ = 64 - static_cast<unsigned>(std::countr_zero(slots_.size()));
    for (const Slot& slot : old)
      if (slot.head != vacant) slots_[find(slot.key)] = slot;
  }

  std::uint32_t allocate(Item& item) {
    ++waiting_;
    if (free_ == none) {
      nodes_.push_back({std::move(item), none});
      return static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    const auto node = free_;
    free_ = std::exchange(nodes_[node].next, none);
    nodes_[node].item = std::move(item);
    return node;
  }

  void append(Slot& slot, Item& item) {
    const auto node = allocate(item);
    if (slot.head == none) {
      slot.head = node;
    } else {
      nodes_[slot.tail].next = node;
    }
    slot.tail = node;
  }

  std::size_t take(Slot& slot, std::vector<Item>& items, std::size_t limit) {
    std::size_t taken = 0;
    for (; slot.head != none && taken < limit; ++taken) {
      Node& node = nodes_[slot.head];
      items.push_back(std::move(node.item));
      const auto next = std::exchange(node.next, free_);
      free_ = std::exchange(slot.head, next);
    }
    waiting_ -= taken;
    return taken;
  }

  std::vector<Slot> slots_;  // the size is a power of two; at most half of the slots are in use
  unsigned shift_ = 0;       // 64 − log2 of the size
  std::size_t keys_ = 0;
  std::vector<Node> nodes_;
  std::uint32_t free_ = none;
  std::size_t waiting_ = 0;
};

}  // namespace laneway::lane
