// What a commit stores, and its text, byte for byte: processes of other versions read it.
#include "lane/commit/stored_commit.h"

#include <rapidcheck.h>

#include <limits>
#include <set>

#include "catch.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

const std::string map = "laneway1:6AcCAwrIAdIyeeU";  // of offset 1000
const std::vector<OffsetRun> runs{{1002, 1005}, {1015, 1215}};
constexpr const char* this_id = "7kQ0m2XwTzu7v5n0mQmR3A";
constexpr const char* other_id = "Zx9eQ1BsQ7m0cYk1aPpLrw";

StoredCommit read(const std::string& text, std::int64_t offset = 1000) {
  return StoredCommit::read({{"orders", 3}, offset, text, this_id});
}

std::string text_of(const StoredCommit& commit, std::size_t most = 4000, bool whole = false) {
  return commit.written(most, whole).metadata;
}

/// With a completion map, beside which everything is written.
StoredCommit with_map() { return {.offset = 1000, .map = {1000, runs}}; }

LifeMarker any_marker() {
  LifeMarker marker;
  marker.lives = *rc::gen::inRange<std::uint32_t>(0, 3);
  if (marker.lives == 0) return {};
  if (*rc::gen::arbitrary<bool>()) {
    marker.suspect = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 60);
    marker.deaths = *rc::gen::inRange<std::uint32_t>(0, 1000);
  } else {
    marker.among = *rc::gen::inRange<std::uint32_t>(0, 1000);
  }
  marker.by = *rc::gen::arbitrary<std::vector<ProcessId>>();
  return marker;
}

StoredCommit any_commit() {
  StoredCommit commit{.partition = {"orders", 3}, .offset = *rc::gen::inRange<std::int64_t>(0, 1LL << 40)};
  commit.log = *rc::gen::element(LogName{}, LogName{this_id, ""}, LogName{"", "4711"});
  commit.lives = any_marker();
  if (*rc::gen::arbitrary<bool>())
    commit.suspension =
        Suspension{*rc::gen::arbitrary<bool>(), *rc::gen::inRange<std::int64_t>(0, 1LL << 60)};
  const auto distances =
      *rc::gen::container<std::set<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 1'000'000));
  for (const auto distance : distances) commit.suspects.push_back(commit.offset + distance);
  commit.map = {commit.offset, {}};
  auto end = commit.offset;
  for (int run = *rc::gen::inRange(0, 20); run > 0; --run) {
    const auto begin = end + *rc::gen::inRange<std::int64_t>(1, 1000);
    end = begin + *rc::gen::inRange<std::int64_t>(1, 1000);
    commit.map.runs.push_back({begin, end});
  }
  return commit;
}

}  // namespace

TEST_CASE("the text of a commit has the fields in their order, and then the map") {
  auto commit = with_map();
  CHECK(text_of(commit) == map);
  commit.log = {this_id, "4711"};
  CHECK(text_of(commit) == "topic=7kQ0m2XwTzu7v5n0mQmR3A " + map);
  commit.log = {"", "4711"};
  CHECK(text_of(commit) == "cluster=4711 " + map);
  commit.suspects = {990, 1000, 1001, 1010};
  CHECK(text_of(commit) == "cluster=4711 failed=0,1,9 " + map);
  commit.suspension = {true, 1764160000000};
  CHECK(text_of(commit) == "cluster=4711 suspended=1764160000000 failed=0,1,9 " + map);
  commit.suspension = {false, 0};
  CHECK(text_of(commit) == "cluster=4711 resumed=0 failed=0,1,9 " + map);
  commit.lives = {2, 1007, 1, 5, {9, 4294967295}};
  CHECK(text_of(commit) ==
        "lives=2 suspect=1007 deaths=1 by=9 by=4294967295 cluster=4711 resumed=0 failed=0,1,9 " + map);
  commit.lives = {3, {}, 7, 16, {}};
  CHECK(text_of(commit) == "lives=3 among=16 cluster=4711 resumed=0 failed=0,1,9 " + map);
  const auto offset = commit.written();
  CHECK(offset.offset == 1000);
  CHECK(offset.topic_id.empty());
}

TEST_CASE("the log is named beside a map, a suspect or a suspension, and only there") {
  const LogName log{"", "4711"};
  CHECK(text_of({.offset = 7, .log = log}).empty());
  CHECK(text_of({.offset = 7, .log = log, .lives = {1, {}, 0, 0, {9}}}) == "lives=1 by=9 ");
  CHECK(text_of({.offset = 7, .log = log, .suspension = Suspension{false, 5}}) == "resumed=5 ");
  CHECK(text_of({.offset = 7, .log = log, .suspension = Suspension{true, 5}}) == "cluster=4711 suspended=5 ");
  CHECK(text_of({.offset = 7, .log = log, .suspects = {8}}) == "cluster=4711 failed=1 ");
  CHECK(text_of({.offset = 7, .log = log, .suspects = {6}}).empty());
}

TEST_CASE("a text that is too long loses the map first, then everything but the suspension") {
  StoredCommit commit = with_map();
  commit.log = {"", "4711"};
  commit.suspension = {true, 5};
  const std::string fields = "cluster=4711 suspended=5 ";
  CHECK(text_of(commit, fields.size() + map.size()) == fields + map);
  const auto shorter = text_of(commit, fields.size() + map.size() - 1);
  CHECK(shorter.starts_with(fields + "laneway1:"));
  CHECK(read(shorter).map.runs == std::vector<OffsetRun>{{1002, 1005}});
  CHECK(text_of(commit, fields.size()) == fields);
  CHECK(text_of(commit, fields.size() - 1) == "suspended=5 ");
  CHECK(text_of(commit, 12) == "suspended=5 ");
  CHECK(text_of(commit, 11).empty());
}

TEST_CASE("a map that must be whole is not cut, and displaces the suspects") {
  auto commit = with_map();
  commit.suspects = {1000};
  CHECK(text_of(commit, 40, true) == "failed=0 " + map);
  CHECK(text_of(commit, 32, true) == map);
  CHECK(text_of(commit, 5, true) == map);
}

TEST_CASE("suspects take at most a quarter of the text, the first ones") {
  StoredCommit commit{.offset = 10, .suspects = {10, 11, 13}};
  CHECK(text_of(commit, 52) == "failed=0,1,2 ");
  CHECK(text_of(commit, 51) == "failed=0,1 ");
  CHECK(text_of(commit, 36) == "failed=0 ");
  CHECK(text_of(commit, 35).empty());
}

TEST_CASE("a commit is read as it was written") {
  REQUIRE(rc::check("any commit", [] {
    const auto commit = any_commit();
    const auto again = StoredCommit::read(commit.written(100'000));
    RC_ASSERT(again.partition == commit.partition);
    RC_ASSERT(again.offset == commit.offset);
    RC_ASSERT(again.lives == commit.lives);
    RC_ASSERT(again.suspension == commit.suspension);
    RC_ASSERT(again.suspects == commit.suspects);
    RC_ASSERT(again.map == commit.map);
    RC_ASSERT(again.map_error.empty());
    const bool suspended = commit.suspension && commit.suspension->suspended;
    const bool names_log = commit.has_map() || !commit.suspects.empty() || suspended;
    RC_ASSERT(again.log == (names_log ? commit.log : LogName{}));
  }));
}

TEST_CASE("a text is never longer than it may be, and keeps what fits") {
  REQUIRE(rc::check("any commit and length", [] {
    const auto commit = any_commit();
    const auto most = *rc::gen::inRange<std::size_t>(0, 400);
    const auto written = commit.written(most);
    RC_ASSERT(written.metadata.size() <= most);
    const auto again = StoredCommit::read(written);
    RC_ASSERT(again.suspects.size() <= commit.suspects.size());
    RC_ASSERT(std::equal(again.suspects.begin(), again.suspects.end(), commit.suspects.begin()));
    RC_ASSERT(again.map_error.empty());
    RC_ASSERT(std::equal(again.map.runs.begin(), again.map.runs.end(), commit.map.runs.begin()));
  }));
}

TEST_CASE("texts of earlier versions are read: a map alone, behind a marker, or no text") {
  CHECK(read(map).map == CompletionMap{1000, runs});
  const auto marked = read("lives=2 suspect=7 deaths=1 " + map);
  CHECK(marked.lives == LifeMarker{2, 7, 1});
  CHECK(marked.map.runs == runs);
  const auto empty = read("");
  CHECK_FALSE(empty.has_map());
  CHECK(empty.map == CompletionMap{1000, {}});
  CHECK(empty.topic_id == this_id);
}

TEST_CASE("fields of a later version are skipped, in any position") {
  for (const std::string text :
       {"new=1 topic=abc ", "topic=abc new=a:b,c ", "lives=2 new= topic=abc else=x "}) {
    INFO(text);
    const auto commit = read(text + map);
    CHECK(commit.log.topic == "abc");
    CHECK(commit.map.runs == runs);
  }
}

TEST_CASE("a marker that makes no sense counts as absent, and hides nothing behind it") {
  for (const std::string text : {"lives= ", "lives=x ", "lives=-1 ", "lives=0 by=7 ", "lives=99999999999999 ",
                                 "lives=2 suspect=7 ", "topic=abc lives=2 "}) {
    INFO(text);
    const auto commit = read(text + map);
    CHECK(commit.lives == LifeMarker{});
    CHECK(commit.map.runs == runs);
  }
  CHECK(read("lives=1").lives == LifeMarker{});
  CHECK(read("lives=2 suspect=7 deaths=1").lives == LifeMarker{});
  CHECK(read("lives=2 suspect=x by=9 " + map).lives == LifeMarker{2});
}

TEST_CASE("suspects that make no sense count as absent, and hide nothing behind them") {
  for (const std::string text :
       {"failed= ", "failed=1, ", "failed=,1 ", "failed=-1 ", "failed=1,0 ", "failed=x ", "failed=1;2 ",
        "failed=9223372036854775807,1 ", "failed=99999999999999999999 ", "failed=1 failed=x "}) {
    INFO(text);
    const auto commit = read(text + map);
    CHECK(commit.suspects.empty());
    CHECK(commit.map.runs == runs);
  }
  CHECK(read("failed=0,1,2 ").suspects == std::vector<std::int64_t>{1000, 1001, 1003});
  CHECK(read("failed=0 ", -1).suspects.empty());
  constexpr auto last = std::numeric_limits<std::int64_t>::max();
  CHECK(read("failed=9223372036854775807 ", 0).suspects == std::vector{last});
}

TEST_CASE("a decision whose time makes no sense counts as absent") {
  for (const std::string text :
       {"suspended= ", "suspended=x ", "suspended=-1 ", "suspended=99999999999999999999 ", "resumed=1x "}) {
    INFO(text);
    CHECK_FALSE(read(text + map).suspension);
    CHECK(read(text + map).map.runs == runs);
  }
  CHECK(read("resumed=1 suspended=2 suspended=x ").suspension == Suspension{true, 2});
}

TEST_CASE("a text that is no map is reported, and leaves no record out") {
  for (const std::string text : {"somebody's text", "=1 ", "topic=abc", "Topic=abc x", "a b=c ", "lives=1"}) {
    INFO(text);
    const auto commit = read(text);
    CHECK(commit.map == CompletionMap{1000, {}});
    CHECK(commit.has_map());
    CHECK(commit.map_error == "completion map ignored: not written by this version of laneway");
  }
  CHECK_THAT(read(map, 999).map_error, Catch::Contains("written for offset 1000, committed is 999"));
  CHECK_THAT(read("topic=abc " + map + 'A').map_error, Catch::Contains("completion map ignored: "));
}

TEST_CASE("an offset that is not known has no map") {
  CHECK(read("", kafka::no_offset).map_error.empty());
  CHECK(read("lives=2 ", kafka::unread_offset).offset == kafka::no_offset);
}

TEST_CASE("a map whose log cannot be compared lacks an id") {
  const auto lacks_id = [](const std::string& text, const std::string& id) {
    return StoredCommit::read({{"orders", 3}, 1000, text, id}).lacks_id();
  };
  CHECK(lacks_id("topic=abc " + map, ""));
  CHECK(lacks_id("topic=abc damaged", ""));
  CHECK_FALSE(lacks_id("topic=abc " + map, "abc"));
  CHECK_FALSE(lacks_id("topic=abc ", ""));
  CHECK_FALSE(lacks_id("cluster=abc " + map, ""));
}

TEST_CASE("a map is used only for its own log, and for any log if the map names none") {
  const LogName own{this_id, "this cluster"};
  CHECK_FALSE(foreign({}, own));
  CHECK_FALSE(foreign({}, {}));
  CHECK_FALSE(foreign({this_id, ""}, own));
  CHECK_FALSE(foreign({"", "this cluster"}, own));
  using Catch::Contains;
  CHECK_THAT(*foreign({other_id, ""}, own), Contains("another topic") && Contains(this_id));
  CHECK_THAT(*foreign({"", "another"}, own), Contains("another cluster"));
  CHECK_THAT(*foreign({this_id, ""}, {"", "this cluster"}), Contains("could not be read"));
  CHECK_THAT(*foreign({"", "this cluster"}, {this_id, ""}), Contains("could not be read"));
}
