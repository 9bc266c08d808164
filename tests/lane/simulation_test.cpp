// Ledger, order by key and retries, combined as in a lane, against a simulated partition, with crashes.
// Batches of a key end early, at a failure or because they are wanted back. After every step, each key with
// unfinished records makes progress: it is running once, or its first record waits for a retry. One seed is
// one history; LANEWAY_SEEDS=1000000 runs more of them, LANEWAY_FIRST_SEED=n begins elsewhere.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.h"
#include "delivery/retry/retry_policy.h"
#include "delivery/retry/retry_queue.h"
#include "lane/ledger/key_order.h"
#include "lane/ledger/ledger.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

constexpr int events = 2000;

struct Item {
  std::size_t record = 0;  // its index in the log
  Sequence sequence = 0;
  std::uint32_t attempt = 1;
};

void demand(bool holds, const char* rule) {
  if (!holds) throw std::runtime_error(rule);
}

/// The partition, and the facts about the records by which the run is judged. Not lost in a crash.
struct Partition {
  struct Record {
    std::int64_t offset = 0;
    std::uint64_t key = 0;
    bool done = false;
  };
  std::vector<Record> log;
  std::uint64_t keys = 1;
  std::int64_t end = 0;
  std::int64_t committed = 0;
  std::string metadata;
  std::size_t below_committed = 0;  // records; all done

  void commit(std::int64_t offset, std::string map) {
    demand(offset >= committed, "a committed offset never falls");
    for (; below_committed < log.size() && log[below_committed].offset < offset; ++below_committed)
      demand(log[below_committed].done, "every record below the committed offset is done");
    committed = offset;
    metadata = std::move(map);
  }
};

/// One assignment: the state that a crash destroys.
class Assignment {
 public:
  Assignment(Partition& partition, std::mt19937_64& random, std::size_t max_window)
      : partition_(partition), random_(random), max_window_(max_window), next_(partition.below_committed) {
    auto decoded = decode(partition.metadata, partition.committed);
    demand(decoded.map.has_value(), "what was committed can be read");
    for (std::size_t i = next_; i < partition.log.size(); ++i)
      if (decoded.map->contains(partition.log[i].offset))
        demand(partition.log[i].done, "the committed map holds only records that are done");
    restored_ = *decoded.map;
    ledger_ = Ledger(std::move(*decoded.map));
    running_keys_.resize(partition.keys);
    last_done_.resize(partition.keys);
    incomplete_.resize(partition.keys);
  }

  void step() {
    switch (random_() % 8) {
      case 0:
      case 1:
      case 2:
        deliver();
        break;
      case 3:
      case 4:
      case 5:
        finish_one();
        break;
      case 6:
        retry_due();
        break;
      default:
        random_() % 4 == 0 ? commit() : pass_time();
    }
    demand(at_work_.size() + retries_.size() == incomplete_keys_,
           "every key with incomplete records is at work once, or waits for its retry");
  }

  /// No attempt fails any more until all records are done.
  void drain() {
    failing_ = false;
    while (next_ < partition_.log.size() || ledger_.incomplete() > 0) {
      const auto before = ledger_.incomplete();
      deliver();
      finish_one();
      now_ += seconds(60);
      retry_due();
      demand(before == 0 || !at_work_.empty() || retries_.size() > 0 || ledger_.incomplete() < before,
             "a record that is not complete is at work, waits for a retry or behind its key");
    }
    demand(order_.waiting() == 0 && order_.keys() == 0, "nothing waits behind a key that is done");
    ledger_.reached(partition_.end);
    commit();
    demand(partition_.committed == partition_.end, "when all is done the end is committed");
  }

  void commit() {
    const auto limit = random_() % 4 == 0 ? random_() % 100 : default_map_bytes;
    partition_.commit(ledger_.committable(), encode(ledger_.completed(most_runs(limit)), limit));
  }

 private:
  using Batch = std::vector<Item>;

  void deliver() {
    if (next_ == partition_.log.size()) return ledger_.reached(partition_.end);
    if (ledger_.window() >= max_window_) return;
    const auto& record = partition_.log[next_];
    demand(!ledger_.would_go_back(record.offset), "a record not yet delivered does not go back");
    const bool suppressed = ledger_.completed_before(record.offset);
    demand(suppressed == restored_.contains(record.offset),
           "suppressed is what the map holds, no more, no less");
    Item item{next_++, ledger_.append(record.offset), 1};
    demand(ledger_.offset_of(item.sequence) == record.offset, "a sequence number finds its offset");
    if (suppressed) {
      demand(ledger_.complete(item.sequence) == 1, "a suppressed record is completed once");
      return;
    }
    if (incomplete_[record.key]++ == 0) ++incomplete_keys_;
    if (order_.admit(record.key, item)) start({item});
  }

  void start(Batch batch) {
    const auto key = key_of(batch.front());
    demand(!running_keys_[key], "one batch of a key at a time");
    running_keys_[key] = true;
    at_work_.push_back(std::move(batch));
  }

  /// A batch comes back: done, or one of its records failed and the rest was not run, or the rest was wanted
  /// back.
  void finish_one() {
    if (at_work_.empty()) return;
    const auto chosen = random_() % at_work_.size();
    std::swap(at_work_[chosen], at_work_.back());
    Batch batch = std::move(at_work_.back());
    at_work_.pop_back();
    const auto key = key_of(batch.front());
    running_keys_[key] = false;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (failing_ && random_() % 4 == 0) return failed(batch, i);
      done(batch[i]);
      if (random_() % 8 > 0) continue;
      order_.give_back(key, std::span<Item>(batch).subspan(i + 1));
      break;
    }
    std::vector<Item> next;
    const auto limit = random_() % 2 == 0 ? KeyOrder<Item>::all : 1 + random_() % 3;
    if (order_.release(key, next, limit) > 0) start(std::move(next));
  }

  void done(const Item& item) {
    auto& record = partition_.log[item.record];
    demand(item.record + 1 > last_done_[record.key],
           "records of a key are done in the order of their offsets");
    last_done_[record.key] = item.record + 1;
    record.done = true;
    if (--incomplete_[record.key] == 0) --incomplete_keys_;
    demand(ledger_.complete(item.sequence) == 1, "a record is completed once");
    demand(ledger_.complete(item.sequence) == 0, "a second completion is seen as such");
  }

  void failed(Batch& batch, std::size_t index) {
    Item& item = batch[index];
    const auto wish = random_() % 8 == 0 ? std::optional<Duration>(seconds(2)) : std::nullopt;
    const auto delay = policy_.delay(item.attempt++, std::uniform_real_distribution<>()(random_), wish);
    retries_.push(now_ + delay, item);
    order_.give_back(key_of(item), std::span<Item>(batch).subspan(index + 1));
  }

  void retry_due() {
    if (auto item = retries_.pop_due(now_)) start({*item});
  }

  void pass_time() { now_ += milliseconds(random_() % 1000); }

  std::uint64_t key_of(const Item& item) const { return partition_.log[item.record].key; }

  Partition& partition_;
  std::mt19937_64& random_;
  std::size_t max_window_;
  std::size_t next_;  // the next record to be delivered
  CompletionMap restored_;
  Ledger ledger_;
  KeyOrder<Item> order_;
  delivery::RetryPolicy policy_;
  delivery::RetryQueue<Item> retries_;
  TimePoint now_{};
  std::vector<Batch> at_work_;
  std::vector<bool> running_keys_;       // by key
  std::vector<std::size_t> last_done_;   // by key, index + 1, of this assignment
  std::vector<std::size_t> incomplete_;  // by key: records that were delivered and are not done
  std::size_t incomplete_keys_ = 0;      // keys with incomplete records
  bool failing_ = true;
};

void simulate(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Partition partition;
  partition.keys = 1 + random() % (random() % 2 == 0 ? 4 : 200);
  const auto gaps = random() % 3;  // no gaps, some, many
  for (int i = 0; i < events / 2; ++i) {
    if (random() % 3 < gaps) partition.end += static_cast<std::int64_t>(random() % 20);
    partition.log.push_back({partition.end++, random() % partition.keys});
  }
  partition.end += static_cast<std::int64_t>(random() % 3);  // a transaction marker
  const auto max_window = 1 + random() % 500;
  const auto crash_one_in = 100 + random() % 2000;
  std::optional<Assignment> assignment;
  assignment.emplace(partition, random, max_window);
  for (int event = 0; event < events; ++event) {
    assignment->step();
    if (random() % crash_one_in != 0) continue;
    if (random() % 2 == 0) assignment->commit();
    assignment.emplace(partition, random, max_window);
  }
  assignment->drain();
}

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

TEST_CASE("every history commits nothing unfinished, keeps the order of keys, and finishes all records",
          "[one-thread]") {
  const auto first = from_environment("LANEWAY_FIRST_SEED", 1);
  const auto seeds = from_environment("LANEWAY_SEEDS", 10000);
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    try {
      simulate(seed);
    } catch (const std::exception& broken) {
      FAIL("seed " << seed << ": " << broken.what());
    }
  }
  SUCCEED(seeds << " seeds");
}
