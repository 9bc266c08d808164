#include "lane/ledger/completion_map.h"

#include <rapidcheck.h>

#include <limits>
#include <set>

#include "catch.h"

using namespace laneway::lane;

namespace {

/// The runs of a set of offsets.
CompletionMap map_of(std::int64_t base, const std::set<std::int64_t>& offsets) {
  CompletionMap map{base, {}};
  for (const auto offset : offsets) {
    if (map.runs.empty() || map.runs.back().end != offset) map.runs.push_back({offset, offset});
    ++map.runs.back().end;
  }
  return map;
}

rc::Gen<CompletionMap> any_map() {
  return rc::gen::exec([] {
    CompletionMap map{*rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << *rc::gen::inRange(1, 60)), {}};
    const auto scale = *rc::gen::inRange(1, 30);
    auto end = map.base;
    for (int count = *rc::gen::inRange(0, 100); count > 0; --count) {
      const auto begin = end + *rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << scale);
      end = begin + *rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << scale);
      map.runs.push_back({begin, end});
    }
    return map;
  });
}

}  // namespace

TEST_CASE("the text of a completion map stays the same from version to version") {
  // Calculated by a separate script, with Python's base64.
  const CompletionMap map{1000, {{1002, 1005}, {1015, 1215}}};
  const std::string text = "laneway1:6AcCAwrIAdIyeeU";
  CHECK(encode(map) == text);
  CHECK(decode(text, 1000).map == map);
}

TEST_CASE("an empty map has no text, and an empty text is a map without runs") {
  CHECK(encode(CompletionMap{5, {}}).empty());
  CHECK(decode("", 5).map == CompletionMap{5, {}});
}

TEST_CASE("a text that is not the map of this commit is refused with a reason") {
  struct Case {
    const char* what;
    std::string text;
    std::int64_t base;
    const char* reason;
  };
  const std::string good = encode(CompletionMap{1000, {{1002, 1005}, {1015, 1215}}});
  const auto altered = [&](std::size_t at, char c) {
    auto text = good;
    text[at] = c;
    return text;
  };
  const auto version = altered(7, '2');
  const Case cases[] = {
      {"somebody else's metadata", "host-17/2021-03-04", 1000, "not written by this version"},
      {"a later version", version, 1000, "not written by this version"},
      {"only the prefix", "laneway1:", 1000, "cut short"},
      {"cut by a character", good.substr(0, good.size() - 1), 1000, "cut short"},
      {"cut by four", good.substr(0, good.size() - 4), 1000, "checksum"},
      {"a character too many", encode(CompletionMap{1000, {{1002, 1005}, {1205, 1405}}}) + "A", 1000,
       "cut short"},
      {"a character of another alphabet", altered(12, '+'), 1000, "base64url"},
      {"another character", altered(12, good[12] == 'A' ? 'B' : 'A'), 1000, "checksum"},
      {"for another offset", good, 1001, "written for offset 1000, committed is 1001"},
      {"longer than anything we write", "laneway1:" + std::string(max_map_bytes, 'A'), 1000, "longer than"},
      {"an empty run", "laneway1:BwEATDA1kw", 7, "run"},
      {"a run that touches the one before", "laneway1:BwECAAPPaDSx", 7, "run"},
      {"a run without its length", "laneway1:BwEiNJ3O", 7, "run"},
      {"a number of more than 63 bits", "laneway1:B____________wEBH8rk9w", 7, "run"},
      {"a run that ends beyond the largest offset", "laneway1:B_j_________fwLiLkFY", 7, "run"},
      {"a run that begins beyond the largest offset", "laneway1:B___________fwGPUmow", 7, "run"},
      {"a length beyond the largest offset", "laneway1:BwH__________38Njpw0", 7, "run"},
      {"no base", "laneway1:XnG3ew", 7, "cut short"},
      {"half a base", "laneway1:gKy6rS0", 7, "base offset"},
  };
  for (const auto& c : cases) {
    INFO(c.what);
    const auto decoded = decode(c.text, c.base);
    CHECK_FALSE(decoded.map);
    CHECK_THAT(decoded.reason, Catch::Contains(c.reason));
  }
}

TEST_CASE("a map with the largest offsets survives encoding") {
  constexpr auto last = std::numeric_limits<std::int64_t>::max();
  const CompletionMap map{last - 10, {{last - 10, last - 5}, {last - 1, last}}};
  CHECK(decode(encode(map), last - 10).map == map);
}

TEST_CASE("contains() agrees with the runs") {
  REQUIRE(rc::check("contains", [](const std::set<std::uint8_t>& bytes, std::uint8_t probe) {
    const std::set<std::int64_t> offsets(bytes.begin(), bytes.end());
    return map_of(0, offsets).contains(probe) == (offsets.count(probe) > 0);
  }));
}

TEST_CASE("a completion map survives encoding, printable and within the limit") {
  REQUIRE(rc::check("round trip", [] {
    const auto map = *any_map();
    const auto text = encode(map, max_map_bytes);
    RC_ASSERT(decode(text, map.base).map == map);
    for (const char c : text) RC_ASSERT(c > ' ' && c < '\x7f');
  }));
}

TEST_CASE("a text cut by its limit holds the longest prefix of the runs that fits") {
  REQUIRE(rc::check("truncation", [] {
    const auto map = *any_map();
    const auto limit = *rc::gen::inRange<std::size_t>(0, 400);
    const auto text = encode(map, limit);
    RC_ASSERT(text.size() <= limit);
    const auto decoded = decode(text, map.base).map;
    RC_ASSERT(decoded.has_value());
    auto prefix = map;
    prefix.runs.resize(decoded->runs.size());
    RC_ASSERT(*decoded == prefix);
    if (prefix == map) return;
    prefix.runs.push_back(map.runs[prefix.runs.size()]);
    RC_ASSERT(encode(prefix, max_map_bytes).size() > limit);
  }));
}

TEST_CASE("a damaged completion map is never read as another map") {
  REQUIRE(rc::check("mutation", [] {
    const auto map = *any_map();
    const auto text = encode(map, max_map_bytes);
    RC_PRE(!text.empty());
    auto damaged = text;
    for (int changes = *rc::gen::inRange(1, 5); changes > 0; --changes) {
      const auto at = *rc::gen::inRange<std::size_t>(0, damaged.size() + 1);
      const char c = *rc::gen::element('A', 'B', 'z', '0', '9', '-', '_', ':', '\0', '\xff');
      switch (*rc::gen::inRange(0, 3)) {
        case 0:
          damaged.insert(at, 1, c);
          break;
        case 1:
          damaged.erase(std::min(at, damaged.size() - 1), 1);
          break;
        default:
          damaged[std::min(at, damaged.size() - 1)] = c;
      }
      if (damaged.empty()) break;
    }
    RC_PRE(!damaged.empty() && damaged != text);
    RC_ASSERT_FALSE(decode(damaged, map.base).map.has_value());
  }));
}

TEST_CASE("random bytes are refused") {
  REQUIRE(rc::check("fuzz", [](const std::string& bytes, bool prefixed) {
    RC_PRE(!bytes.empty());
    RC_ASSERT_FALSE(decode(prefixed ? "laneway1:" + bytes : bytes, 0).map.has_value());
  }));
}
