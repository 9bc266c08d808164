// A pool whose downstream hangs.
#include "worker_pool/support.h"

namespace laneway {
namespace {

TEST_CASE("a pool with a hanging downstream rejects jobs without hanging, and recovers") {
  PoolGate downstream;
  WorkerPool pool(pool_options(4, 16));
  for (int i = 0; i < 20; ++i) REQUIRE(pool.try_submit([&] { downstream.pass(); }));
  REQUIRE(downstream.holds(4));
  for (int i = 0; i < 1000; ++i) REQUIRE(pool.try_submit([] {}).verdict == Verdict::full);
  REQUIRE(pool.metrics().queued == 16);
  downstream.open();
  pool.wait_idle();
  REQUIRE(pool.metrics().completed == 20);
  REQUIRE(pool.try_submit([] {}));
}

}  // namespace
}  // namespace laneway
