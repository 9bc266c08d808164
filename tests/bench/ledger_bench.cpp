// What the pure parts of a lane cost per record: the counter time/record, in CPU time.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "kafka/record.h"
#include "lane/ledger/key_order.h"
#include "lane/ledger/ledger.h"

namespace {

namespace lane = laneway::lane;
using laneway::lane::KeyOrder;
using laneway::lane::Ledger;

constexpr std::uint32_t run = 256;

void per_record(benchmark::State& state, std::int64_t records) {
  state.counters["time/record"] = benchmark::Counter(
      static_cast<double>(records), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

/// 256 records appended one by one, as they are popped, and completed as one claim; 16 ledgers in turn.
void RunsInOrder(benchmark::State& state) {
  std::vector<Ledger> ledgers(16, Ledger(0));
  std::int64_t offset = 0;
  std::int64_t records = 0;
  for (auto _ : state) {
    for (auto& ledger : ledgers) {
      const auto first = ledger.append(offset);
      for (std::uint32_t i = 1; i < run; ++i) ledger.append(offset + i);
      benchmark::DoNotOptimize(ledger.complete(first, run));
    }
    offset += run;
    records += run * 16;
  }
  per_record(state, records);
}
BENCHMARK(RunsInOrder);

/// As before, but the claims are of 16 records and come back in a random order over a window of 4,096.
void ClaimsOutOfOrder(benchmark::State& state) {
  constexpr std::uint32_t claim = 16, claims = 256;
  std::vector<std::uint32_t> order(claims);
  for (std::uint32_t i = 0; i < claims; ++i) order[i] = i * claim;
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  Ledger ledger(0);
  std::int64_t offset = 0;
  for (auto _ : state) {
    const auto first = ledger.append(offset);
    for (std::uint32_t i = 1; i < claim * claims; ++i) ledger.append(offset + i);
    for (const auto at : order) benchmark::DoNotOptimize(ledger.complete(first + at, claim));
    offset += claim * claims;
  }
  per_record(state, offset);
}
BENCHMARK(ClaimsOutOfOrder);

/// One record at a time; `gap` 2 is a compacted topic, a segment for each record.
void Single(benchmark::State& state) {
  const auto gap = state.range(0);
  Ledger ledger(0);
  std::int64_t offset = 0;
  std::int64_t records = 0;
  for (auto _ : state) {
    const auto first = ledger.append(offset);
    for (std::uint32_t i = 1; i < run; ++i) ledger.append(offset + gap * i);
    for (std::uint32_t i = 0; i < run; ++i) benchmark::DoNotOptimize(ledger.complete(first + i));
    offset += run * gap;
    records += run;
  }
  per_record(state, records);
}
BENCHMARK(Single)->ArgName("gap")->Arg(1)->Arg(2);

/// A commit's text for a window of 10,000 in which every other record is complete: the worst case.
void CompletionMapText(benchmark::State& state) {
  Ledger ledger(0);
  ledger.append(0, 10000);
  for (std::uint32_t i = 1; i < 10000; i += 2) ledger.complete(i);
  for (auto _ : state)
    benchmark::DoNotOptimize(lane::encode(ledger.completed(lane::most_runs(lane::default_map_bytes))));
}
BENCHMARK(CompletionMapText);

/// As heavy to move as a handler::Item.
struct Item {
  laneway::kafka::Record record;
  std::uint64_t sequence = 0;
  std::uint64_t key = 0;
  std::uint64_t attempt = 1;
};

/// Records of random keys; up to 4,096 are in the lane, and the oldest work is released first.
void KeyOrderRandomKeys(benchmark::State& state) {
  KeyOrder<Item> order;
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> keys(1 << 16);
  for (auto& key : keys) key = (random() % static_cast<std::uint64_t>(state.range(0))) * 0x9E3779B97F4A7C15U;
  std::vector<std::uint64_t> at_work;  // keys, oldest first from `released` on
  std::size_t released = 0;
  std::vector<Item> next;
  std::int64_t records = 0;
  for (auto _ : state) {
    for (const auto key : keys) {
      Item item;
      item.key = key;
      if (order.admit(key, item)) at_work.push_back(key);
      while (at_work.size() - released + order.waiting() > 4096) {
        next.clear();
        const auto oldest = at_work[released++];
        if (order.release(oldest, next) > 0) at_work.push_back(oldest);
      }
    }
    at_work.erase(at_work.begin(), at_work.begin() + static_cast<std::ptrdiff_t>(released));
    released = 0;
    records += static_cast<std::int64_t>(keys.size());
  }
  per_record(state, records);
}
BENCHMARK(KeyOrderRandomKeys)->ArgName("keys")->Arg(100)->Arg(10000);

/// Order by partition: one key, runs of 256; each second run waits behind the first.
void KeyOrderOneKey(benchmark::State& state) {
  KeyOrder<Item> order;
  std::vector<Item> items(run), next;
  std::int64_t records = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(order.admit(0, std::span<Item>(items)));
    benchmark::DoNotOptimize(order.admit(0, std::span<Item>(items)));
    next.clear();
    order.release(0, next);
    order.release(0, next);
    records += run * 2;
  }
  per_record(state, records);
}
BENCHMARK(KeyOrderOneKey);

}  // namespace

BENCHMARK_MAIN();
