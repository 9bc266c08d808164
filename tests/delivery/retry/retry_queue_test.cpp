#include "delivery/retry/retry_queue.h"

#include <rapidcheck.h>

#include <map>
#include <memory>

#include "catch.h"

using namespace laneway;
using delivery::RetryQueue;

namespace {

TimePoint at(int tick) { return TimePoint(milliseconds(tick)); }

}  // namespace

TEST_CASE("a record that waits for a retry comes when it is due and not before") {
  RetryQueue<std::unique_ptr<int>> queue;
  CHECK_FALSE(queue.next_due());
  CHECK_FALSE(queue.pop_due(at(1000)));
  queue.push(at(20), std::make_unique<int>(2));
  queue.push(at(10), std::make_unique<int>(1));
  CHECK(queue.next_due() == at(10));
  CHECK_FALSE(queue.pop_due(at(9)));
  CHECK(**queue.pop_due(at(10)) == 1);
  CHECK_FALSE(queue.pop_due(at(10)));
  CHECK(queue.size() == 1);
  CHECK(**queue.pop_due(at(99)) == 2);
  CHECK(queue.size() == 0);
}

TEST_CASE("clearing yields all items, due or not, in the requested order") {
  struct Waiting {
    int offset;
  };
  RetryQueue<Waiting> queue;
  for (const int offset : {5, 1, 4}) queue.push(at(100 - offset), {offset});
  const auto all = queue.clear(&Waiting::offset);
  REQUIRE(all.size() == 3);
  CHECK(all[0].offset == 1);
  CHECK(all[1].offset == 4);
  CHECK(all[2].offset == 5);
  CHECK(queue.size() == 0);
  CHECK_FALSE(queue.next_due());
}

TEST_CASE("chosen items move to another queue and keep their due times") {
  RetryQueue<int> from;
  RetryQueue<int> to;
  for (const int value : {5, 1, 4, 2, 3}) from.push(at(value), value);
  from.move_to(to, [](int value) { return value % 2 == 0; });
  CHECK(to.next_due() == at(2));
  for (const int value : {1, 3, 5}) CHECK(from.pop_due(at(value)) == value);
  for (const int value : {2, 4}) CHECK(to.pop_due(at(value)) == value);
  CHECK(from.size() + to.size() == 0);
}

TEST_CASE("retries come by due time, equal ones first in first out, and none is lost") {
  REQUIRE(rc::check("retry queue against model", [] {
    RetryQueue<int> queue;
    std::multimap<int, int> model;  // equal keys keep their order of insertion
    int pushed = 0;
    for (int step = *rc::gen::inRange(0, 200); step > 0; --step) {
      const auto tick = *rc::gen::inRange(0, 20);
      if (*rc::gen::arbitrary<bool>()) {
        queue.push(at(tick), pushed);
        model.emplace(tick, pushed++);
      } else {
        const auto popped = queue.pop_due(at(tick));
        const bool due = !model.empty() && model.begin()->first <= tick;
        RC_ASSERT(popped.has_value() == due);
        if (!due) continue;
        RC_ASSERT(*popped == model.begin()->second);
        model.erase(model.begin());
      }
      RC_ASSERT(queue.size() == model.size());
      RC_ASSERT(queue.next_due().has_value() == !model.empty());
      if (!model.empty()) RC_ASSERT(*queue.next_due() == at(model.begin()->first));
    }
    std::multimap<int, int> by_value;
    for (const auto& [tick, value] : model) by_value.emplace(value, tick);
    const auto left = queue.clear([](int value) { return value; });
    RC_ASSERT(left.size() == by_value.size());
    for (auto expected = by_value.begin(); const int value : left) RC_ASSERT(value == (expected++)->first);
  }));
}
