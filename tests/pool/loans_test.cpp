// How loans of slots meet stuck claims, permits, other limits, cancelling, threads that cannot be started,
// and the ends of the pools.
#include "pool/worker_slots.h"

#include <array>

#include "tiers.h"

using namespace laneway;
using namespace laneway::pool;

namespace {

struct Holder final : Permits::Waiter {
  void permitted() override { ++got; }
  int got = 0;
};

void give_back_to_next(Permits& permits) {
  if (auto* next = permits.give_back()) next->permitted();
}

}  // namespace

// Stuck claims

TEST_CASE("the lender replaces a stuck claim's slot, and the borrower does not, until the claim ends") {
  const bool asynchronous = GENERATE(false, true);
  Pair pools(helping_limits(asynchronous, 1), helping_limits(asynchronous, 2));
  auto& helped = pools.helped;
  auto& helper = pools.helper;
  helped.begin(2);
  CHECK(helper.lends(1));
  helped.finish();
  REQUIRE(eventually([&] { return helped->snapshot().in_flight == 1; }));
  helper.submit(2);
  REQUIRE(helper.runs(1));
  CHECK(helper->snapshot().queued == 1);

  const auto now = SteadyClock::now();
  CHECK(helped->tick(now + seconds(1001)).empty());
  CHECK(helped->tick(now + seconds(1011)).size() == 1);
  CHECK(helped->snapshot().stuck == 1);
  CHECK(helper.runs(2));
  CHECK(helper.lends(1));
  helped.submit(2);
  REQUIRE(helped.runs(2));
  CHECK(helped->snapshot().queued == 1);

  helped.finish();
  REQUIRE(helper.lends(0));
  CHECK(helped->snapshot().stuck == 0);
  helper.submit(1);
  CHECK(helped->snapshot().queued == 1);
  CHECK(helper->snapshot().queued == 1);
  helper.finish();
  REQUIRE(eventually([&] { return helped.running() == 2 && helper.running() == 1; }));
  CHECK(helper.lends(1));
  CHECK(helper->snapshot().queued == 1);
}

TEST_CASE("the end of a stuck loan and the report of it come in either order") {
  const bool report_first = GENERATE(false, true);
  WorkerSlots slots(2, seconds(1), seconds(1));
  slots.lend();
  CHECK(slots.counts().free == 1);
  if (report_first) {
    slots.replace_lent();
    CHECK(slots.counts().free == 2);
    slots.end_loan(true);
  } else {
    slots.end_loan(true);
    CHECK(slots.counts().free == 2);
    slots.replace_lent();
  }
  CHECK(slots.counts().free == 2);
  CHECK(slots.counts().lent == 0);
  CHECK(slots.counts().most == 2);
}

// Other limits, and the stop

TEST_CASE("a pool that runs more claims than its reduced workers begins jobs on its helper's slots") {
  const bool asynchronous = GENERATE(false, true);
  Pair pools(helping_limits(asynchronous, 4), helping_limits(asynchronous, 1));
  auto& helped = pools.helped;
  helped.begin(4);
  helped->resize(1, 1000);
  helped.submit(1);
  REQUIRE(helped.runs(5));
  CHECK(helped->snapshot().borrowed == 1);
  for (int i = 0; i < 5; ++i) helped.finish();
  REQUIRE(eventually([&] { return helped->drained(); }));
  helped.submit(3);
  REQUIRE(helped.runs(2));
  CHECK(helped->snapshot().borrowed == 1);
  CHECK(helped->snapshot().queued == 1);
}

TEST_CASE("a helper with fewer workers than loans begins nothing before enough loans have ended") {
  const bool asynchronous = GENERATE(false, true);
  Pair pools(helping_limits(asynchronous, 1), helping_limits(asynchronous, 3));
  auto& helped = pools.helped;
  auto& helper = pools.helper;
  helped.begin(4);
  helper->resize(1, 1000);
  helper.submit(1);
  for (std::uint32_t lent = 2; lent > 0; --lent) {
    helped.finish_last();
    REQUIRE(helper.lends(lent));
    CHECK(helper->snapshot().free == 0);
    CHECK(helper.running() == 0);
  }
  helped.finish_last();
  CHECK(helper.runs(1));
}

TEST_CASE("a stop of all present and future jobs reaches jobs on borrowed slots") {
  const bool asynchronous = GENERATE(false, true);
  Mutex mutex;
  std::vector<Claim> claims;
  std::atomic<int> stopped{0};
  auto given = helping_limits(asynchronous, 1);
  TestPool helped(
      given,
      [&](const Claim& claim) {
        if (claim.stop_token(claim.range.begin).stop_requested()) ++stopped;
        MutexLock lock(mutex);
        claims.push_back(claim);
      },
      TestPool::Finish::later);
  TestPool helper(given, run_jobs);
  help(*helper.operator->(), {helped.operator->()});
  helped->cancel();
  auto jobs = single_jobs(2);
  for (auto& job : jobs) REQUIRE(helped->try_submit(job).taken == 1);
  REQUIRE(eventually([&] {
    MutexLock lock(mutex);
    return claims.size() == 2;
  }));
  CHECK(helped->snapshot().borrowed == 1);
  CHECK(stopped == 2);
  for (const auto& claim : claims) helped->finish(claim);
  CHECK(helped->join(Deadline::in(patience)));
  CHECK(helper->join(Deadline::in(patience)));
}

// Permits

TEST_CASE("a job on a borrowed slot needs a permit of its own pool") {
  const bool asynchronous = GENERATE(false, true);
  Permits permits(2);
  auto of_helped = helping_limits(asynchronous, 1);
  of_helped.permits = &permits;
  {
    Pair pools(of_helped, helping_limits(asynchronous, 3));
    auto& helped = pools.helped;
    auto& helper = pools.helper;
    helped.submit(6);
    REQUIRE(helped.runs(2));
    REQUIRE(eventually([&] { return permits.waiting() == 1; }));
    CHECK(permits.in_use() == 2);
    CHECK(helped->snapshot().borrowed == 1);
    CHECK(eventually([&] { return helper->snapshot().free == 2; }));  // not kept for a pool that must wait

    permits.set_limit(4);
    REQUIRE(helped.runs(4));
    CHECK(helped->snapshot().borrowed == 3);
    REQUIRE(eventually([&] { return helped->snapshot().queued == 2; }));

    permits.set_limit(1);
    for (std::size_t running = 3; running > 0; --running) {
      helped.finish_last();
      REQUIRE(eventually([&] { return permits.in_use() == running; }));
      CHECK(helped.running() == running);
    }
    for (int i = 0; i < 2; ++i) {
      helped.finish();
      REQUIRE(eventually([&] { return helped->snapshot().in_flight + helped->snapshot().queued == 2U - i; }));
      REQUIRE(helped.runs(1));
      CHECK(permits.in_use() == 1);
    }
    helped.finish();
    REQUIRE(eventually([&] { return helped->drained(); }));
    CHECK(helped.all_ran());
  }
  CHECK(permits.in_use() == 0);
  CHECK(permits.waiting() == 0);
}

TEST_CASE("while an aged job of a helper waits for a permit, the helper keeps one slot for it") {
  const bool asynchronous = GENERATE(false, true);
  Permits permits(1);
  Holder holder;
  REQUIRE(permits.take(holder));
  auto of_helper = helping_limits(asynchronous, 2);
  of_helper.permits = &permits;
  of_helper.longest_wait = Duration::zero();
  Pair pools(helping_limits(asynchronous, 1), of_helper);
  auto& helped = pools.helped;
  auto& helper = pools.helper;
  helper.submit(1);
  REQUIRE(eventually([&] { return permits.waiting() == 1; }));
  helped.submit(3);
  REQUIRE(helped.runs(2));
  CHECK(helper.lends(1));
  CHECK(helped->snapshot().queued == 1);
  give_back_to_next(permits);
  REQUIRE(helper.runs(1));
  CHECK(helped->snapshot().queued == 1);
  helper.finish();
  CHECK(helped.runs(3));
  CHECK(helper.lends(2));
}

TEST_CASE("a permit that finds all slots of its pool lent is passed on") {
  const bool asynchronous = GENERATE(false, true);
  Permits permits(1);
  Holder holder;
  REQUIRE(permits.take(holder));
  auto of_helper = helping_limits(asynchronous, 2);
  of_helper.permits = &permits;
  Pair pools(helping_limits(asynchronous, 1), of_helper);
  auto& helped = pools.helped;
  auto& helper = pools.helper;
  helper.submit(1);
  REQUIRE(eventually([&] { return permits.waiting() == 1; }));
  helped.begin(3);
  give_back_to_next(permits);
  CHECK(eventually([&] { return permits.in_use() == 0; }));
  CHECK(helper.running() == 0);
  helped.finish_last();
  CHECK(helper.runs(1));
  CHECK(permits.in_use() == 1);
}

TEST_CASE("a stuck claim on a borrowed slot returns its permit once") {
  const bool asynchronous = GENERATE(false, true);
  Permits permits(2);
  auto of_helped = helping_limits(asynchronous, 1);
  of_helped.permits = &permits;
  Pair pools(of_helped, helping_limits(asynchronous, 3));
  auto& helped = pools.helped;
  helped.submit(4);
  REQUIRE(helped.runs(2));
  REQUIRE(eventually([&] { return permits.waiting() == 1; }));
  const auto now = SteadyClock::now();
  CHECK(helped->tick(now + seconds(1001)).empty());
  CHECK(helped->tick(now + seconds(1011)).size() == 2);
  REQUIRE(helped.runs(4));
  CHECK(permits.in_use() == 2);
  helped.submit(1);
  helped.finish();
  helped.finish();
  REQUIRE(eventually([&] { return helped->snapshot().in_flight == 2; }));
  CHECK(permits.in_use() == 2);
  CHECK(helped->snapshot().queued == 1);
}

// Threads that cannot be started

TEST_CASE("if a helper cannot start a thread, its slot is not lent and the next helper is called") {
  Tiers tiers(false);
  tiers.low.begin(1);
  tiers.low.finish();
  REQUIRE(eventually([&] { return tiers.low->drained(); }));
  tiers.high.begin(1);
  refuse_threads = true;
  tiers.high.submit(1);
  REQUIRE(tiers.high.runs(2));
  CHECK(tiers.medium->snapshot().start_failures == 1);
  CHECK(tiers.medium.lends(0));
  CHECK(tiers.medium->snapshot().free == 2);
  CHECK(tiers.low.lends(1));
  tiers.high.submit(1);
  refuse_threads = false;
  CHECK(tiers.high->snapshot().queued == 1);
  tiers.medium->tick(SteadyClock::now());
  tiers.high->tick(SteadyClock::now());
  tiers.high->tick(SteadyClock::now());
  CHECK(tiers.high.runs(3));
  CHECK(tiers.medium.lends(1));
}

TEST_CASE("a permit for which no helper can start a thread is returned, and taken after a tick") {
  Permits permits(2);
  Holder holder;
  REQUIRE(permits.take(holder));
  auto of_helped = helping_limits(false, 1);
  of_helped.permits = &permits;
  Pair pools(of_helped, helping_limits(false, 1));
  auto& helped = pools.helped;
  auto& helper = pools.helper;
  helped.submit(2);
  REQUIRE(helped.runs(1));
  REQUIRE(eventually([&] { return permits.waiting() == 1; }));
  refuse_threads = true;
  give_back_to_next(permits);
  refuse_threads = false;
  CHECK(permits.in_use() == 1);
  CHECK(permits.waiting() == 0);
  CHECK(helper->snapshot().start_failures == 1);
  CHECK(helper.lends(0));
  helper->tick(SteadyClock::now());
  helped->tick(SteadyClock::now());
  helped->tick(SteadyClock::now());
  CHECK(helped.runs(2));
}

// The ends of the pools

TEST_CASE("joining waits for claims on lent or borrowed slots") {
  const bool asynchronous = GENERATE(false, true);
  Pair pools(helping_limits(asynchronous, 1), helping_limits(asynchronous, 1));
  auto& helped = pools.helped;
  auto& helper = pools.helper;
  const auto at_once = Deadline::in(Duration::zero());
  helped.begin(2);
  helped.finish();  // on the own slot
  REQUIRE(eventually([&] { return helped->snapshot().in_flight == 1; }));
  CHECK_FALSE(helped->join(at_once));
  CHECK_FALSE(helper->join(at_once));
  CHECK(helper.lends(1));
  std::thread finisher([&] { helped.finish(); });
  CHECK(helper->join(Deadline::in(patience)));
  CHECK(helper.lends(0));
  CHECK(helper->snapshot().threads == 0);
  CHECK(helped->join(Deadline::in(patience)));
  finisher.join();
}

TEST_CASE("a helper that ends finishes its loans and lends no more") {
  const bool asynchronous = GENERATE(false, true);
  Pair pools(helping_limits(asynchronous, 1), helping_limits(asynchronous, 2));
  auto& helped = pools.helped;
  auto& helper = pools.helper;
  helped.begin(3);
  CHECK_FALSE(helper->join(Deadline::in(Duration::zero())));
  helped.submit(3);
  helped.finish_last();
  helped.finish_last();
  CHECK(helper->join(Deadline::in(patience)));
  CHECK(helped.running() == 1);
  CHECK(helped->snapshot().queued == 3);
  for (int i = 0; i < 4; ++i) {
    REQUIRE(helped.runs(1));
    helped.finish();
    REQUIRE(eventually([&] { return static_cast<int>(helped->snapshot().queued) == std::max(2 - i, 0); }));
  }
  REQUIRE(eventually([&] { return helped->drained(); }));
  CHECK(helped.all_ran());
}

TEST_CASE("pools that help each other run what they have accepted, in whichever order they end") {
  const bool asynchronous = GENERATE(false, true);
  const auto order = GENERATE(std::array{0, 1, 2}, std::array{2, 1, 0}, std::array{1, 2, 0});
  std::vector<Jobs> jobs;
  for (int i = 0; i < 3; ++i) jobs.emplace_back(200);
  for (int round = 0; round < 20; ++round) {
    std::array<std::unique_ptr<TestPool>, 3> pools;
    for (auto& pool : pools) pool = std::make_unique<TestPool>(helping_limits(asynchronous, 2), run_jobs);
    for (auto& pool : pools)
      for (auto& other : pools)
        if (other != pool) help(*pool->operator->(), {other->operator->()});
    for (std::size_t i = 0; i < 3; ++i) REQUIRE((*pools[i])->try_submit(jobs[i]).taken == 200);
    for (auto& pool : pools) (*pool)->close();
    for (const auto i : order) REQUIRE((*pools[static_cast<std::size_t>(i)])->join(Deadline::in(patience)));
    for (const auto i : order) pools[static_cast<std::size_t>(i)].reset();
    for (const auto& of_pool : jobs) CHECK(of_pool.all_ran(round + 1));
  }
}
