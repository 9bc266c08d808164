// The order of the records that come to a pool which gathers, on a ledger alone.
#include "lane/stage/gather_order.h"

#include <algorithm>
#include <map>
#include <random>

#include "catch.h"
#include "lane/batch/work_batch.h"
#include "lane/stage/one_stage.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

using Sequences = std::vector<Sequence>;

Sequences sequences_of(const std::vector<handler::Item>& items) {
  Sequences sequences;
  for (const auto& item : items) sequences.push_back(item.sequence);
  return sequences;
}

/// Records that are on their way to the pool: each has the key at its place.
struct OnTheirWay {
  explicit OnTheirWay(std::vector<std::uint64_t> keys) : keys_of(std::move(keys)) {
    ledger.append(0, static_cast<std::uint32_t>(keys_of.size()));
    for (Sequence sequence = 0; sequence < keys_of.size(); ++sequence)
      order.expect(keys_of[sequence], sequence);
  }
  /// What may enter the pool when this record comes.
  Sequences arrive(Sequence sequence, std::size_t bytes = 0) {
    std::vector<handler::Item> ready;
    order.arrive(keys_of[sequence], item_of(sequence, bytes), ready);
    return sequences_of(ready);
  }
  /// What may enter the pool because other records are complete.
  Sequences release() {
    std::vector<handler::Item> ready;
    order.release(ready);
    return sequences_of(ready);
  }

  std::vector<std::uint64_t> keys_of;
  Ledger ledger{0};
  GatherOrder order{ledger};
};

const Sequences nobody;

}  // namespace

TEST_CASE("records of a key enter the pool in their order, in whatever order they come") {
  OnTheirWay test({7, 7, 7, 7});
  CHECK(test.arrive(2) == nobody);
  CHECK(test.arrive(1) == nobody);
  CHECK_FALSE(test.order.empty());
  CHECK(test.arrive(0) == Sequences{0, 1, 2});
  CHECK(test.order.empty());
  CHECK(test.arrive(3) == Sequences{3});
}

TEST_CASE("records of other keys do not wait for each other") {
  OnTheirWay test({7, 8, 9, 7});
  CHECK(test.arrive(3) == nobody);
  CHECK(test.arrive(2) == Sequences{2});
  CHECK(test.arrive(1) == Sequences{1});
}

TEST_CASE("a record that was not expected enters the pool at once") {
  OnTheirWay test({7});
  std::vector<handler::Item> ready;
  test.order.arrive(7, item_of(5), ready);
  CHECK(sequences_of(ready) == Sequences{5});
  CHECK(test.order.empty());
  CHECK(test.order.bytes() == 0);
}

TEST_CASE("a record does not wait for earlier records that are complete and never come") {
  OnTheirWay test({7, 7, 7});
  test.ledger.complete(0);
  test.ledger.complete(1);
  CHECK(test.arrive(2) == Sequences{2});
}

TEST_CASE("records that wait are released when all earlier records of their key are complete") {
  OnTheirWay test({7, 7, 8, 7, 8});
  CHECK(test.arrive(3) == nobody);
  CHECK(test.arrive(4) == nobody);
  CHECK(test.release() == nobody);
  test.ledger.complete(0);
  CHECK(test.release() == nobody);  // the second record of the key may still come
  test.ledger.complete(2);
  CHECK(test.release() == Sequences{4});
  test.ledger.complete(1);
  CHECK(test.release() == Sequences{3});
  CHECK(test.order.empty());
}

TEST_CASE("two keys whose records are completed at the same time are released together") {
  OnTheirWay test({7, 8, 7, 8});
  CHECK(test.arrive(2) == nobody);
  CHECK(test.arrive(3) == nobody);
  test.ledger.complete(0, 2);
  CHECK(test.release() == Sequences{2, 3});
  CHECK(test.release() == nobody);
}

TEST_CASE("a release keeps the records behind one that waits for its turn") {
  OnTheirWay test({7, 7, 7, 7});
  CHECK(test.arrive(1) == nobody);
  CHECK(test.arrive(3) == nobody);
  test.ledger.complete(0);
  CHECK(test.release() == Sequences{1});
  CHECK_FALSE(test.order.empty());
  CHECK(test.arrive(2) == Sequences{2, 3});
}

TEST_CASE("the memory of the records that wait is counted until they enter the pool") {
  OnTheirWay test({7, 7, 7});
  CHECK(test.arrive(1, 100) == nobody);
  CHECK(test.order.bytes() == record_overhead + 100);
  CHECK(test.arrive(2, 2000) == nobody);
  CHECK(test.order.bytes() == 2 * record_overhead + 2100);
  CHECK(test.arrive(0, 50) == Sequences{0, 1, 2});
  CHECK(test.order.bytes() == 0);
}

TEST_CASE("a cleared order forgets what waits, and what it waits for") {
  OnTheirWay test({7, 7, 7});
  CHECK(test.arrive(1, 100) == nobody);
  test.order.clear();
  CHECK(test.order.empty());
  CHECK(test.order.bytes() == 0);
  test.ledger.complete(0);
  CHECK(test.release() == nobody);
  CHECK(test.arrive(2) == Sequences{2});
}

TEST_CASE("a cleared order releases the records of another log at the same number of completions") {
  OnTheirWay test({7, 7, 8});
  CHECK(test.arrive(1) == nobody);
  test.ledger.complete(0);
  CHECK(test.release() == Sequences{1});
  test.ledger = Ledger{0};
  test.order.clear();
  test.ledger.append(0, 2);
  for (Sequence sequence = 0; sequence < 2; ++sequence) test.order.expect(7, sequence);
  CHECK(test.arrive(1) == nobody);
  test.ledger.complete(0);
  CHECK(test.release() == Sequences{1});
}

TEST_CASE("complete records that are forgotten leave the order of the others as it was") {
  constexpr Sequence many = 5000;
  OnTheirWay test(std::vector<std::uint64_t>(3, 7));
  CHECK(test.arrive(1) == nobody);
  for (Sequence sequence = 3; sequence < many; ++sequence) {  // each of a key of its own, and none comes
    test.ledger.append(static_cast<std::int64_t>(sequence));
    test.order.expect(1000 + sequence, sequence);
    test.ledger.complete(sequence);
  }
  CHECK(test.arrive(2) == nobody);
  CHECK(test.arrive(0) == Sequences{0, 1, 2});
}

TEST_CASE("in random stories, each record of a key that comes enters the pool once, in order") {
  std::mt19937 dice(GENERATE(range(1U, 30U)));
  constexpr Sequence count = 60;
  std::vector<std::uint64_t> keys;
  for (Sequence i = 0; i < count; ++i) keys.push_back(1 + dice() % 4);
  OnTheirWay test(keys);
  Sequences events(count);
  for (Sequence i = 0; i < count; ++i) events[i] = i;
  std::shuffle(events.begin(), events.end(), dice);
  std::map<std::uint64_t, Sequences> entered;
  std::size_t came = 0;
  const auto note = [&](const Sequences& ready) {
    for (const auto sequence : ready) entered[keys[sequence]].push_back(sequence);
  };
  for (const auto sequence : events) {
    if (dice() % 3 == 0) {  // its sub-jobs are dead-lettered, and it never comes
      test.ledger.complete(sequence);
      if (dice() % 2 == 0) note(test.release());
    } else {
      ++came;
      note(test.arrive(sequence));
    }
  }
  note(test.release());
  std::size_t all = 0;
  for (const auto& [key, sequences] : entered) {
    CHECK(std::is_sorted(sequences.begin(), sequences.end()));
    all += sequences.size();
  }
  CHECK(all == came);
  CHECK(test.order.empty());
  CHECK(test.order.bytes() == 0);
}
