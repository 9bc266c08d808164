// A system that refuses memory. Not under the address sanitizer, which has an operator new of its own.
#if defined(__SANITIZE_ADDRESS__)
#define HAS_OWN_NEW
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_OWN_NEW
#endif
#endif

#ifndef HAS_OWN_NEW

#include <cstdlib>
#include <new>

#include "worker_pool/support.h"

namespace {

thread_local bool refuses_memory = false;

}  // namespace

// Of the whole program; only a thread that asks for it is refused. Inlined, a compiler finds them mismatched.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory = refuses_memory ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (!memory) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace laneway {
namespace {

using namespace std::chrono_literals;

Submission submit_without_memory(WorkerPool& pool, void (*job)()) {
  refuses_memory = true;
  try {
    const auto answer = pool.try_submit(job);
    refuses_memory = false;
    return answer;
  } catch (const std::bad_alloc&) {
    refuses_memory = false;
    FAIL("try_submit needed memory for a small job");
    throw;
  }
}

TEST_CASE("without memory for a thread, a job is refused, or waits for the existing threads") {
  WorkerPool pool(pool_options(2, 10));
  REQUIRE(submit_without_memory(pool, [] {}).verdict == Verdict::no_thread);
  REQUIRE(pool.submit_and_wait([] { return 7; }) == 7);
  REQUIRE(eventually([&] { return pool.metrics().idle == 1; }));
  PoolGate gate;
  REQUIRE(pool.submit([&] { gate.pass(); }));
  REQUIRE(gate.holds(1));
  REQUIRE(submit_without_memory(pool, [] {}));
  REQUIRE(pool.metrics().threads == 1);
  gate.open();
  pool.wait_idle();
  REQUIRE(pool.metrics().thread_start_failures == 2);
}

TEST_CASE("a job with a timeout fails without memory for its stop, and its worker goes on") {
  std::atomic<int> errors = 0, ran = 0;
  auto options = pool_options(1, 10);
  options.on_error = [&](const JobError&) {
    refuses_memory = false;
    ++errors;
  };
  WorkerPool pool(options);
  JobOptions with_timeout;
  with_timeout.name = "a name that does not fit into a std::string itself";
  with_timeout.timeout = 1h;
  pool.pause();
  REQUIRE(pool.submit([] { refuses_memory = true; }));
  REQUIRE(pool.submit(with_timeout, [&] { ran += 10; }));
  REQUIRE(pool.submit(with_timeout, [&] { ++ran; }));
  pool.resume();
  pool.wait_idle();
  REQUIRE(ran == 1);
  REQUIRE(errors == 1);
  REQUIRE(pool.metrics().failed == 1);
}

TEST_CASE("without memory for the report, stop still gives up all jobs") {
  PoolGate gate;
  WorkerPool pool(pool_options(1, 100));
  const auto shared = std::make_shared<int>(0);
  REQUIRE(pool.submit([&] { gate.pass(); }));
  REQUIRE(gate.holds(1));
  for (int i = 0; i < 90; ++i) REQUIRE(pool.submit([shared] {}));
  refuses_memory = true;
  bool reported = true;
  try {
    static_cast<void>(pool.stop(0ms, 0ms));
  } catch (const std::bad_alloc&) {
    reported = false;
  }
  refuses_memory = false;
  REQUIRE_FALSE(reported);
  REQUIRE(shared.use_count() == 1);
  REQUIRE(pool.metrics().abandoned == 90);
  gate.open();
  REQUIRE(pool.stop(1min).drained);
}

}  // namespace
}  // namespace laneway

#endif
