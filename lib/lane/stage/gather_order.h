// The order of the records that come to a pool which gathers, if `lanes.order` asks for one.
//
// The sub-jobs of a record leave the chain of pools early when they have an empty result or go to the
// dead-letter topic. Without this order, the record would then come to the pool that gathers before earlier
// records of its key, which are still in the pools between. So a record waits here until each earlier record
// of its key has come, or is complete.
//
// Ownership: owns the records that wait; bounded by the ledger's window. Threads: one. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "handler/record_batch.h"
#include "lane/ledger/ledger.h"

namespace laneway::lane {

class GatherOrder {
 public:
  explicit GatherOrder(const Ledger& ledger) : ledger_(ledger) {}

  /// A record with this key (order_key(), not 0) is on its way to the pool.
  void expect(std::uint64_t key, Sequence sequence);
  /// Adds to `ready` what may enter the pool: the record and those that have waited for it, or nothing.
  void arrive(std::uint64_t key, handler::Item item, std::vector<handler::Item>& ready);
  /// Adds the records that waited for others which are complete by now.
  void release(std::vector<handler::Item>& ready);

  std::uint64_t bytes() const { return bytes_; }
  bool empty() const { return waiting_.empty(); }
  void clear();

 private:
  using Place = std::pair<std::uint64_t, Sequence>;

  std::size_t release(std::uint64_t key, std::vector<handler::Item>& ready);
  void forget_complete();

  const Ledger& ledger_;
  std::map<Place, std::optional<handler::Item>> expected_;  // with the record if it has come, and waits
  std::map<std::uint64_t, std::size_t> waiting_;            // by key: how many records wait
  std::uint64_t bytes_ = 0;
  std::uint64_t done_ = 0;  // of the ledger, at the last release
  std::size_t forget_at_ = 1024;
};

}  // namespace laneway::lane
