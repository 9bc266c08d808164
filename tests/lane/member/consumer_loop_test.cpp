// What is asked of a member whose thread does not come to it.
#include "lane/member/consumer_loop.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::lane;

TEST_CASE("a member that does not come to its commands takes a bounded number of them") {
  const LaneContext context{};
  ConsumerLoop loop(context, LoopSettings{}, [] {});
  const auto kept = std::make_shared<int>(0);
  for (int i = 0; i < 64; ++i) REQUIRE(loop.post([kept](Lane&, TimePoint) {}));
  CHECK_FALSE(loop.post([kept](Lane&, TimePoint) {}));
  CHECK(kept.use_count() == 65);
}
