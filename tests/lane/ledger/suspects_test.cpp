// The records that failed while the downstream worked, in the metadata of a commit.
#include "lane/ledger/suspects.h"

#include <rapidcheck.h>

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

TEST_CASE("the text of the suspects has distances, and is read back for the offset of its commit") {
  Suspects suspects;
  suspects.note({{13, true}, {10, true}, {11, true}, {50, false}}, Ledger());
  const auto text = suspects.text(10, 1000) + "laneway1:rest";
  CHECK(text == "failed=0,1,2 laneway1:rest");
  std::string_view metadata = text;
  CHECK(found_in(Suspects::take(metadata, 10)) == std::set<std::int64_t>{10, 11, 13});
  CHECK(metadata == "laneway1:rest");
}

TEST_CASE("without suspects there is no text, and metadata of earlier versions has none") {
  CHECK(Suspects().text(0, 1000).empty());
  for (const std::string_view text : {"", "laneway1:AAAA", "lives=1 "}) {
    std::string_view metadata = text;
    CHECK(found_in(Suspects::take(metadata, 0)).empty());
    CHECK(metadata == text);
  }
}

TEST_CASE("text that makes no sense is left where it is") {
  for (const std::string_view text :
       {"failed=", "failed= ", "failed=1", "failed=1,", "failed=1, ", "failed=-1 ", "failed=1,0 ",
        "failed=x ", "failed=1;2 ", "failed=9223372036854775807,1 ", "failed=99999999999999999999 "}) {
    INFO(text);
    std::string_view metadata = text;
    CHECK(found_in(Suspects::take(metadata, 5)).empty());
    CHECK(metadata == text);
  }
}

TEST_CASE("any suspects come back, those that fit") {
  REQUIRE(rc::check("written and read", [] {
    const auto offsets = *rc::gen::container<std::set<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 2000));
    Suspects suspects;
    Suspects::Seen seen;
    for (const auto offset : offsets) seen[offset] = true;
    suspects.note(seen, Ledger());
    const auto most = *rc::gen::inRange<std::size_t>(0, 300);
    const auto text = suspects.text(0, most);
    RC_ASSERT(text.size() <= most);
    std::string_view metadata = text;
    const auto found = found_in(Suspects::take(metadata, 0));
    RC_ASSERT(metadata.empty());
    RC_ASSERT(std::equal(found.begin(), found.end(), offsets.begin()));  // the first ones
    if (most == 299 && offsets.size() < 40) RC_ASSERT(found.size() == offsets.size());
  }));
}

TEST_CASE("a suspect stays one until its record is finished, or an outage turns out to be the cause") {
  Suspects suspects;
  suspects.note({{3, true}, {7, true}, {9, true}}, complete_but({3, 7, 9}));
  const auto version = suspects.version();
  suspects.note({{3, true}}, complete_but({3, 7, 9}));  // 7 and 9 are running
  CHECK(suspects.version() == version);
  suspects.note({{7, false}}, complete_but({3, 7}));
  CHECK(suspects.version() > version);
  CHECK(found_in(suspects) == std::set<std::int64_t>{3});
}

TEST_CASE("a suspect that is not delivered yet stays one, and another log has none") {
  std::string_view metadata = "failed=120 ";
  auto suspects = Suspects::take(metadata, 0);
  suspects.note({}, complete_but({}));
  CHECK(suspects.contains(120));
  const auto version = suspects.version();
  suspects.clear();
  CHECK_FALSE(suspects.contains(120));
  CHECK(suspects.version() > version);
}
