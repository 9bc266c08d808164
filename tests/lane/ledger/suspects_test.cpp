// The records that failed while the downstream worked.
#include "lane/ledger/suspects.h"

#include <set>

#include "catch.h"
#include "lane/ledger/ledger.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

/// Delivered up to 100, and complete except for these offsets.
Ledger complete_but(const std::set<std::int64_t>& offsets) {
  Ledger ledger(0);
  const auto first = ledger.append(0, 100);
  for (std::int64_t offset = 0; offset < 100; ++offset)
    if (!offsets.contains(offset)) ledger.complete(first + static_cast<Sequence>(offset));
  return ledger;
}

std::set<std::int64_t> found_in(const Suspects& suspects) {
  std::set<std::int64_t> found;
  for (std::int64_t offset = 0; offset < 2000; ++offset)
    if (suspects.contains(offset)) found.insert(offset);
  return found;
}

}  // namespace

TEST_CASE("a suspect stays a suspect until its record finishes, or an outage was the cause") {
  Suspects suspects;
  suspects.note({{3, true}, {7, true}, {9, true}}, complete_but({3, 7, 9}));
  const auto version = suspects.version();
  suspects.note({{3, true}}, complete_but({3, 7, 9}));  // 7 and 9 are running
  CHECK(suspects.version() == version);
  suspects.note({{7, false}}, complete_but({3, 7}));
  CHECK(suspects.version() > version);
  CHECK(found_in(suspects) == std::set<std::int64_t>{3});
}

TEST_CASE("an undelivered suspect stays a suspect, but not in another log") {
  Suspects suspects({120});
  suspects.note({}, complete_but({}));
  CHECK(suspects.contains(120));
  const auto version = suspects.version();
  suspects.clear();
  CHECK_FALSE(suspects.contains(120));
  CHECK(suspects.version() > version);
}
