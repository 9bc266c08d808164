// Which record of a lane begins next: records that the breaker has withheld, and records that failed.
#include "lane/ledger/waiting_records.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

using Numbers = std::vector<std::uint64_t>;

constexpr TimePoint start{seconds(1000)};
constexpr std::uint64_t none = 0;

handler::Item numbered(std::uint64_t sequence, bool left_behind = false) {
  handler::Item item;
  item.sequence = sequence;
  item.left_behind = left_behind;
  return item;
}

auto has_number(std::uint64_t sequence) {
  return [sequence](const handler::Item& item) { return item.sequence == sequence; };
}

std::uint64_t next_of(WaitingRecords& waiting, TimePoint now, bool probing = false) {
  const auto item = waiting.pop(now, probing);
  return item ? item->sequence : none;
}

/// All that can be popped now, or `most`.
Numbers order_of(WaitingRecords& waiting, TimePoint now, bool probing, int most = 100) {
  Numbers order;
  for (int i = 0; i < most; ++i) {
    const auto number = next_of(waiting, now, probing);
    if (number == none) break;
    order.push_back(number);
  }
  return order;
}

/// 1 to 3 are fresh, 11 and 12 were left behind, 21 to 23 have failed and are due.
WaitingRecords mixed() {
  WaitingRecords waiting;
  waiting.withhold(numbered(11, true));
  for (const std::uint64_t number : {1, 2, 3}) waiting.withhold(numbered(number));
  waiting.withhold(numbered(12, true));
  waiting.push(start - seconds(1), numbered(22));
  waiting.push(start, numbered(23));
  waiting.push(start - seconds(2), numbered(21));
  return waiting;
}

}  // namespace

TEST_CASE("withheld records begin before failed ones, and left-behind records come last among the withheld") {
  auto waiting = mixed();
  CHECK(order_of(waiting, start, false) == Numbers{1, 2, 3, 11, 12, 21, 22, 23});
  CHECK(waiting.size() == 0);
}

TEST_CASE("probes alternate between untried records and the records that failed longest ago") {
  auto waiting = mixed();
  CHECK(order_of(waiting, start, true) == Numbers{1, 21, 2, 22, 3, 23, 11, 12});
}

TEST_CASE("a record that fails as a probe is not the next probe") {
  WaitingRecords waiting;
  for (const std::uint64_t number : {1, 2}) waiting.withhold(numbered(number));
  waiting.push(start, numbered(21));
  auto now = start;
  Numbers probes;
  for (int i = 0; i < 6; ++i) {
    now += seconds(5);
    auto probe = waiting.pop(now, true);
    REQUIRE(probe);
    probes.push_back(probe->sequence);
    waiting.push(now + seconds(1), std::move(*probe));
  }
  CHECK(probes == Numbers{1, 21, 2, 1, 21, 2});
}

TEST_CASE("a turn without a record of its kind goes to the other kind") {
  WaitingRecords waiting;
  for (const std::uint64_t number : {1, 2, 3}) waiting.withhold(numbered(number));
  CHECK(order_of(waiting, start, true) == Numbers{1, 2, 3});
  for (const std::uint64_t number : {21, 22, 23}) waiting.push(start, numbered(number));
  CHECK(order_of(waiting, start, true) == Numbers{21, 22, 23});
}

TEST_CASE("no turn of a probe is used up while the downstream works") {
  auto waiting = mixed();
  CHECK(order_of(waiting, start, true, 1) == Numbers{1});
  CHECK(order_of(waiting, start, false, 1) == Numbers{2});
  CHECK(order_of(waiting, start, true, 1) == Numbers{21});
}

TEST_CASE("a failed record waits until it is due, also as a probe") {
  WaitingRecords waiting;
  waiting.push(start + seconds(2), numbered(22));
  waiting.push(start + seconds(1), numbered(21));
  CHECK(waiting.next_due(false) == start + seconds(1));
  CHECK(waiting.due_of(has_number(22)) == start + seconds(2));
  CHECK_FALSE(waiting.due_of(has_number(23)));
  const auto before = start + seconds(1) - nanoseconds(1);
  CHECK(next_of(waiting, before, false) == none);
  CHECK(order_of(waiting, before, true) == Numbers{});
  CHECK(next_of(waiting, before, true) == none);
  CHECK(order_of(waiting, start + seconds(1), true) == Numbers{21});
  CHECK(waiting.next_due(false) == start + seconds(2));
}

TEST_CASE("a withheld record may begin at any time") {
  WaitingRecords waiting;
  CHECK_FALSE(waiting.next_due(false));
  waiting.push(start, numbered(21));
  for (const bool left_behind : {false, true}) {
    waiting.withhold(numbered(1, left_behind));
    CHECK(waiting.next_due(false) == TimePoint{});
    CHECK(next_of(waiting, TimePoint{}) == 1);
    CHECK(waiting.next_due(false) == start);
  }
}

TEST_CASE("only withheld fresh records count as fresh") {
  auto waiting = mixed();
  CHECK(waiting.size() == 8);
  CHECK(waiting.fresh() == 3);
  CHECK(next_of(waiting, start) == 1);
  CHECK(waiting.size() == 7);
  CHECK(waiting.fresh() == 2);
}

TEST_CASE("a chosen record is removed from any place, and the others keep their order") {
  auto waiting = mixed();
  CHECK_FALSE(waiting.take(has_number(99)));
  for (const std::uint64_t number : {2, 11, 21}) {
    const auto taken = waiting.take(has_number(number));
    REQUIRE(taken);
    CHECK(taken->sequence == number);
    CHECK_FALSE(waiting.take(has_number(number)));
  }
  CHECK(order_of(waiting, start, false) == Numbers{1, 3, 12, 22, 23});
}

TEST_CASE("each visits all records, and clear returns all of them") {
  auto waiting = mixed();
  const Numbers all{1, 2, 3, 11, 12, 21, 22, 23};
  Numbers seen;
  waiting.each([&](const handler::Item& item) { seen.push_back(item.sequence); });
  std::sort(seen.begin(), seen.end());
  CHECK(seen == all);
  Numbers cleared;
  for (const auto& item : waiting.clear()) cleared.push_back(item.sequence);
  std::sort(cleared.begin(), cleared.end());
  CHECK(cleared == all);
  CHECK(waiting.size() == 0);
  CHECK(waiting.fresh() == 0);
  CHECK_FALSE(waiting.next_due(false));
  CHECK(waiting.clear().empty());
}

namespace {

handler::Item suspect(std::uint64_t sequence) {
  auto item = numbered(sequence);
  item.suspect = true;
  return item;
}

}  // namespace

TEST_CASE("a suspect does not probe while another record waits, due or not") {
  auto waiting = mixed();
  waiting.push(start - seconds(9), numbered(31), true);
  waiting.withhold(suspect(32));
  CHECK_FALSE(waiting.only_suspects());
  CHECK(order_of(waiting, start - seconds(1), true) == Numbers{1, 21, 2, 22, 3, 11, 12});
  CHECK_FALSE(waiting.only_suspects());
  CHECK(next_of(waiting, start - nanoseconds(1), true) == none);
  CHECK(next_of(waiting, start, true) == 23);
  CHECK(waiting.only_suspects());
  CHECK(order_of(waiting, start, true) == Numbers{32, 31});
}

TEST_CASE("while the downstream works, suspects and other failed records come by their times") {
  WaitingRecords waiting;
  waiting.push(start, numbered(1));
  waiting.push(start - seconds(1), numbered(2), true);
  waiting.push(start + seconds(1), numbered(3), true);
  CHECK(waiting.next_due(false) == start - seconds(1));
  CHECK(waiting.due_of(has_number(3)) == start + seconds(1));
  CHECK(waiting.size() == 3);
  CHECK(order_of(waiting, start, false) == Numbers{2, 1});
  CHECK(waiting.take(has_number(3)));
  CHECK(waiting.size() == 0);
}

TEST_CASE("a record that an outage clears of suspicion probes like any other failed record") {
  WaitingRecords waiting;
  for (const std::uint64_t number : {1, 2, 3}) waiting.push(start, numbered(number), true);
  waiting.acquit([](const handler::Item& item) { return item.sequence != 2; });
  CHECK_FALSE(waiting.only_suspects());
  CHECK(next_of(waiting, start, true) == 2);
  CHECK(waiting.only_suspects());
  CHECK(waiting.clear().size() == 2);
}

TEST_CASE("no suspect is due to probe while another record waits for its attempt") {
  WaitingRecords waiting;
  waiting.push(start, numbered(1), true);
  waiting.push(start + seconds(30), numbered(2));
  CHECK(waiting.next_due(false) == start);
  CHECK(waiting.next_due(true) == start + seconds(30));
  CHECK(next_of(waiting, start, true) == none);
  CHECK(next_of(waiting, start + seconds(30), true) == 2);
  CHECK(waiting.next_due(true) == start);
  CHECK(next_of(waiting, start, true) == 1);
}
