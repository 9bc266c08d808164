#include "lane/ledger/key_order.h"

#include <rapidcheck.h>

#include <deque>
#include <map>
#include <memory>
#include <set>

#include "catch.h"

using namespace laneway::lane;

namespace {

using Owned = std::unique_ptr<int>;  // can only be moved, as records

Owned item(int value) { return std::make_unique<int>(value); }

std::vector<int> values(const std::vector<Owned>& items) {
  std::vector<int> result;
  for (const auto& each : items) result.push_back(*each);
  return result;
}

}  // namespace

TEST_CASE("the first record of a key runs, the next ones wait behind it, and other keys pass") {
  KeyOrder<Owned> order;
  auto a = item(1), b = item(2), c = item(3), d = item(4);
  CHECK(order.admit(7, a));
  CHECK(a != nullptr);
  CHECK_FALSE(order.admit(7, b));
  CHECK(b == nullptr);
  CHECK(order.admit(8, c));
  CHECK_FALSE(order.admit(7, d));
  CHECK(order.waiting() == 2);
  CHECK(order.keys() == 2);

  std::vector<Owned> next;
  CHECK(order.release(7, next) == 2);
  CHECK(values(next) == std::vector<int>{2, 4});
  CHECK(order.waiting() == 0);
  auto e = item(5);
  CHECK_FALSE(order.admit(7, e));  // the released batch is running
  next.clear();
  CHECK(order.release(7, next) == 1);
  CHECK(order.release(7, next) == 0);
  CHECK(order.admit(7, a));
}

TEST_CASE("a released batch can be limited, and the rest stays waiting") {
  KeyOrder<int> order;
  std::vector<int> first{1}, rest{2, 3, 4}, next;
  order.admit(0, std::span<int>(first));
  order.admit(0, std::span<int>(rest));
  CHECK(order.release(0, next, 2) == 2);
  CHECK(order.release(0, next, 2) == 1);
  CHECK(next == std::vector<int>{2, 3, 4});
  CHECK(order.release(0, next, 2) == 0);
}

TEST_CASE("records that are given back wait before all others of their key") {
  KeyOrder<int> order;
  int first = 1, last = 4;
  std::vector<int> given_back{2, 3}, next;
  order.admit(0, first);
  SECTION("before a waiting record") {
    order.admit(0, last);
    order.give_back(0, given_back);
  }
  SECTION("before a later record") {
    order.give_back(0, given_back);
    order.admit(0, last);
  }
  CHECK(order.release(0, next) == 3);
  CHECK(next == std::vector<int>{2, 3, 4});
}

TEST_CASE("clearing yields the waiting records in each key's order, and running records stay running") {
  KeyOrder<int> order;
  for (const int value : {10, 20, 11, 21, 12}) {
    int copy = value;
    order.admit(static_cast<std::uint64_t>(value / 10), copy);
  }
  auto items = order.clear();
  std::stable_sort(items.begin(), items.end(), [](int a, int b) { return a / 10 < b / 10; });
  CHECK(items == std::vector<int>{11, 12, 21});
  CHECK(order.waiting() == 0);
  CHECK(order.keys() == 2);
  CHECK(order.release(1, items) == 0);
  CHECK(order.release(2, items) == 0);
  CHECK(order.keys() == 0);
}

TEST_CASE("clearing can keep the first record of each key, and these keys go on") {
  KeyOrder<int> order;
  for (const int value : {10, 20, 11, 21, 12, 13, 30}) {
    int copy = value;
    order.admit(static_cast<std::uint64_t>(value / 10), copy);
  }
  CHECK(order.longest() == 3);
  CHECK(order.clear(2) == std::vector<int>{13});
  CHECK(order.waiting() == 3);
  CHECK(order.longest() == 2);
  std::vector<int> next;
  int last = 14;
  CHECK_FALSE(order.admit(1, last));
  CHECK(order.release(1, next) == 3);
  CHECK(next == std::vector<int>{11, 12, 14});
}

TEST_CASE("keys that collide in the table stay apart") {
  // For multiples of 2^48, the table's hash has few bits to distinguish them.
  KeyOrder<std::uint64_t> order;
  const auto key = [](std::uint64_t i) { return i << 48; };
  for (std::uint64_t i = 0; i < 1000; ++i) {
    auto first = i, second = i + 1000;
    REQUIRE(order.admit(key(i), first));
    REQUIRE_FALSE(order.admit(key(i), second));
  }
  for (std::uint64_t i = 0; i < 1000; ++i) {
    std::vector<std::uint64_t> next;
    REQUIRE(order.release(key(i), next) == 1);
    REQUIRE(next.front() == i + 1000);
    REQUIRE(order.release(key(i), next) == 0);
  }
  CHECK(order.keys() == 0);
}

TEST_CASE("the records of each key run in order and one at a time, and none is lost") {
  REQUIRE(rc::check("key order against model", [] {
    struct Key {
      std::deque<int> waiting;
      std::deque<int> at_work;
    };
    KeyOrder<int> order;
    std::map<std::uint64_t, Key> model;
    const auto spread = *rc::gen::element<std::uint64_t>(1, std::uint64_t{1} << 60);
    const auto keys = *rc::gen::inRange<std::uint64_t>(1, 40);
    int delivered = 0;
    std::size_t waiting = 0;
    for (int step = *rc::gen::inRange(0, 400); step > 0; --step) {
      const auto id = *rc::gen::inRange<std::uint64_t>(0, keys) * spread;
      auto& key = model[id];
      if (key.at_work.empty() || *rc::gen::arbitrary<bool>()) {
        std::vector<int> run(*rc::gen::element<std::size_t>(1, 1, 3));
        for (int& value : run) value = delivered++;
        const bool now = order.admit(id, std::span<int>(run));
        RC_ASSERT(now == key.at_work.empty());
        auto& to = now ? key.at_work : key.waiting;
        to.insert(to.end(), run.begin(), run.end());
        if (!now) waiting += run.size();
      } else if (*rc::gen::weightedElement<bool>({{3, true}, {1, false}})) {
        std::vector<int> next;
        const auto limit = *rc::gen::element<std::size_t>(1, 2, KeyOrder<int>::all);
        const auto count = order.release(id, next, limit);
        RC_ASSERT(count == std::min(limit, key.waiting.size()));
        RC_ASSERT(std::equal(next.begin(), next.end(), key.waiting.begin()));
        key.waiting.erase(key.waiting.begin(), key.waiting.begin() + static_cast<std::ptrdiff_t>(count));
        key.at_work.assign(next.begin(), next.end());
        waiting -= count;
      } else {  // the first one failed and is retried, the rest has not started
        std::vector<int> rest(key.at_work.begin() + 1, key.at_work.end());
        order.give_back(id, rest);
        key.waiting.insert(key.waiting.begin(), rest.begin(), rest.end());
        key.at_work.resize(1);
        waiting += rest.size();
      }
      RC_ASSERT(order.waiting() == waiting);
    }
    std::map<std::uint64_t, std::deque<int>> left;
    for (auto& [id, key] : model)
      if (!key.at_work.empty()) {
        std::vector<int> next;
        order.release(id, next);
        RC_ASSERT(std::equal(next.begin(), next.end(), key.waiting.begin(), key.waiting.end()));
      }
  }));
}
