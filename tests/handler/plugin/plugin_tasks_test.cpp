#include "handler/plugin/plugin_tasks.h"

#include <rapidcheck.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "catch.h"
#include "handler/run.h"

using namespace laneway;
using namespace laneway::handler;

namespace {

std::vector<kafka::RecordData> records(std::size_t count) {
  std::vector<kafka::RecordData> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(record_data(static_cast<std::int64_t>(i), "v"));
  return out;
}

}  // namespace

TEST_CASE("each record has its first answer and the task ends once, whatever is answered and how often") {
  REQUIRE(rc::check([] {
    const auto size = *rc::gen::inRange<std::uint32_t>(1, 9);
    const auto most = *rc::gen::inRange<std::uint32_t>(1, 9);
    const bool in_order = *rc::gen::arbitrary<bool>();
    const auto answers = *rc::gen::container<std::vector<std::pair<std::uint32_t, bool>>>(
        rc::gen::pair(rc::gen::inRange<std::uint32_t>(0, 9), rc::gen::arbitrary<bool>()));
    PluginTasks tasks;
    Run run(records(size), in_order);
    std::uint32_t done = 0;
    std::uint32_t failed = 0;
    bool as_expected = true;  // what is thrown in submit would count as the plugin's
    tasks.run(run.task(), most, [&](const laneway_batch& batch) {
      as_expected = as_expected && batch.count <= most && (batch.in_order != 0) == in_order;
      as_expected = as_expected && !(in_order && failed > 0);  // what is behind a failed record waits
      std::vector<bool> answered(batch.count, false);
      std::uint32_t end = batch.count;
      for (const auto& [index, good] : answers) {
        const bool expected = index < end && !answered[index];
        const bool taken = tasks.answer(batch.task, index, good ? Outcome::done() : Outcome::retry("r"));
        const bool stale = tasks.answer(batch.task + (1ULL << 24), index, Outcome::done());
        as_expected = as_expected && taken == expected && !stale;
        if (!expected) continue;
        answered[index] = true;
        ++(good ? done : failed);
        if (!good && in_order) end = index + 1;
      }
      const auto open =
          static_cast<std::uint32_t>(std::count(answered.begin(), answered.begin() + end, false));
      failed += in_order ? std::min(open, 1U) : open;  // in order, the first that is given up ends the batch
      tasks.give_up(batch.task, Outcome::retry("given up"));
    });
    RC_ASSERT(as_expected);
    RC_ASSERT(run.ended());
    RC_ASSERT(run.result().done == done);
    RC_ASSERT(run.result().failures.size() == failed);
  }));
}

TEST_CASE("threads that answer the same records at once agree on one answer") {
  constexpr int rounds = 300;
  constexpr std::uint32_t size = 5;
  PluginTasks tasks;
  std::atomic<std::uint64_t> current{0};
  std::atomic<int> taken{0};
  std::atomic<bool> ended{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (!ended)
        for (std::uint32_t index = 0; index < size; ++index)
          if (tasks.answer(current, index, Outcome::done())) ++taken;
    });
  for (int round = 0; round < rounds; ++round) {
    Run run(records(size));
    tasks.run(run.task(), size, [&](const laneway_batch& batch) { current = batch.task; });
    CHECK(run.result().done == size);
  }
  ended = true;
  for (auto& thread : threads) thread.join();
  CHECK(taken == rounds * static_cast<int>(size));
}

TEST_CASE("a batch does not end before submit has returned") {
  PluginTasks tasks;
  Run run(records(2));
  tasks.run(run.task(), 2, [&](const laneway_batch& batch) {
    CHECK(tasks.answer(batch.task, 0, Outcome::done()));
    CHECK(tasks.answer(batch.task, 1, Outcome::done()));
    CHECK_FALSE(run.ended());
    CHECK(batch.records[1]->offset == 1);
  });
  CHECK(run.ended());
}

TEST_CASE("after a batch whose last record fails, no later record is submitted") {
  const auto most = GENERATE(1U, 2U);
  PluginTasks tasks;
  Run run(records(6), true);
  std::vector<std::int64_t> submitted;
  tasks.run(run.task(), most, [&](const laneway_batch& batch) {
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      const auto offset = batch.records[i]->offset;
      submitted.push_back(offset);
      tasks.answer(batch.task, i, offset == 3 ? Outcome::retry("not now") : Outcome::done());
    }
  });
  CHECK(submitted == std::vector<std::int64_t>{0, 1, 2, 3});
  CHECK(run.result().done == 3);
  REQUIRE(run.result().failures.size() == 1);
  CHECK(run.result().failures[0].index == 3);
  CHECK(run.state(4) == ItemState::unanswered);
}

TEST_CASE("a task in order that is recalled ends with the batch that the plugin has") {
  PluginTasks tasks;
  Run run(records(6), true);
  tasks.run(run.task(), 2, [&](const laneway_batch& batch) {
    if (batch.records[0]->offset == 2) run.want_back();
    for (std::uint32_t i = 0; i < batch.count; ++i) tasks.answer(batch.task, i, Outcome::done());
  });
  CHECK(run.result().done == 4);
  CHECK(run.state(4) == ItemState::unanswered);
}
