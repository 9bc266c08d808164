#include "kafka/group/commit_parts.h"

#include <rapidcheck.h>

#include "catch.h"

using namespace laneway::kafka;

TEST_CASE("a commit is cut into whole parts within the limit, in order") {
  REQUIRE(rc::check("any offsets", [] {
    std::vector<CommittedOffset> offsets;
    const auto count = *rc::gen::inRange(0, 50);
    for (std::int32_t i = 0; i < count; ++i)
      offsets.push_back(
          {{"orders", i}, 7, std::string(static_cast<std::size_t>(*rc::gen::inRange(0, 4000)), 'x')});
    const auto most = static_cast<std::size_t>(*rc::gen::inRange(1, 20000));
    std::int32_t next = 0;
    for (const auto& part : commit_parts(offsets, 10, most)) {
      std::size_t bytes = 0;
      for (const auto& offset : part) {
        RC_ASSERT(offset.partition.partition == next++);
        bytes += stored_bytes(offset, 10);
      }
      RC_ASSERT(!part.empty());
      RC_ASSERT(bytes <= most || part.size() == 1U);
    }
    RC_ASSERT(next == count);
  }));
}

TEST_CASE("a request of the usual size is smaller than the brokers' default limit, whatever the names") {
  const std::string longest(249, 't');  // the longest name that Kafka allows
  std::vector<CommittedOffset> offsets;
  for (std::int32_t i = 0; i < 3000; ++i) offsets.push_back({{longest, i}, 7, "x"});
  const auto parts = commit_parts(offsets, 300, request_bytes);
  CHECK(parts.size() > 3);
  for (const auto& part : parts) CHECK(part.size() * (249 + 300 + 1 + 74) < 1'048'588);
}
