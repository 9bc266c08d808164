#include "lane/shared/crash_watch.h"

#include "catch.h"

using namespace laneway;
using namespace laneway::lane;

namespace {

/// The marker that the next life reads when this one dies, or loses the partition, after its last commit.
LifeMarker died(const CrashWatch& watch) { return watch.marker(); }

CrashWatch life_after(const LifeMarker& before, ProcessId process = 0) {
  CrashWatch watch(before, 3, process);
  watch.begin();
  return watch;
}

}  // namespace

TEST_CASE("lives without progress are counted, and progress or a clean end resets the count") {
  const CrashWatch first = life_after({});
  CHECK(first.marker() == LifeMarker{1, {}, 0});
  CHECK_FALSE(first.begins_unclean());
  CrashWatch second = life_after(died(first));
  CHECK(second.marker() == LifeMarker{2, {}, 0});
  CHECK(second.begins_unclean());
  CHECK_FALSE(second.careful());
  const CrashWatch third = life_after(died(second));
  CHECK(third.careful());

  const auto before = second.version();
  second.progressed();
  CHECK(second.version() != before);
  CHECK(second.marker() == LifeMarker{1, {}, 0});
  second.end_cleanly();
  CHECK(second.marker() == LifeMarker{});
  second.progressed();
  CHECK(second.marker() == LifeMarker{});
}

TEST_CASE("each group is committed before it begins, also after a group of the same length") {
  CrashWatch watch({.lives = 2, .among = 256}, 3);
  watch.suspect(100, 16);
  const auto first = watch.version();
  watch.survived(16);
  watch.suspect(116, 16);
  CHECK(watch.version() != first);
}

TEST_CASE("a suspect of several lives is condemned, and a new suspect starts the count again") {
  CrashWatch third({2, {}, 0}, 3);
  third.suspect(7);
  CHECK_FALSE(third.condemned(7));
  third.survived();
  third.suspect(8);
  CHECK(third.marker() == LifeMarker{3, 8, 0});

  CrashWatch fourth(died(third), 3);
  CHECK_FALSE(fourth.condemned(7));
  CHECK_FALSE(fourth.condemned(8));
  CHECK(fourth.crashes(8) == 2);
  fourth.suspect(8);

  const CrashWatch fifth(died(fourth), 3);
  CHECK(fifth.crashes(8) == 3);
  CHECK(fifth.condemned(8));
  CHECK_FALSE(fifth.condemned(7));
  CHECK_FALSE(CrashWatch(died(fourth), 4).condemned(8));
}

TEST_CASE("a life that begins nothing is not logged and changes nothing") {
  CrashWatch idle({1, {}, 0, 0, {7}}, 3, 8);
  CHECK(idle.version() == 0);
  CHECK(died(idle) == LifeMarker{1, {}, 0, 0, {7}});
  CrashWatch ends = idle;
  ends.end_cleanly();
  CHECK(ends.version() == 0);
  idle.progressed();  // the position moves over offsets that are no records
  CHECK(idle.marker() == LifeMarker{});
  idle.begin();
  CHECK(idle.marker() == LifeMarker{1, {}, 0, 0, {8}});
}

TEST_CASE("a process that gets the partition again does not count its loss as a death") {
  const auto lost = died(life_after({}, 7));
  CHECK(lost == LifeMarker{1, {}, 0, 0, {7}});
  CHECK_FALSE(life_after(lost, 7).begins_unclean());
  const auto by_two = died(life_after(lost, 8));
  CHECK(by_two == LifeMarker{2, {}, 0, 0, {7, 8}});
  CHECK(life_after(by_two, 9).careful());
  for (const ProcessId back : {7, 8}) {
    const auto again = life_after(by_two, back);
    CHECK_FALSE(again.careful());
    CHECK(died(again) == LifeMarker{1, {}, 0, 0, {back}});
  }
  CHECK_FALSE(CrashWatch({5, 70, 2, 0, {2, 3, 4, 5}}, 3, 2).condemned(70));
  CHECK(CrashWatch({5, 70, 2, 0, {2, 3, 4, 5}}, 3, 6).condemned(70));
}

TEST_CASE("a marker names the newest of many processes") {
  LifeMarker marker;
  for (ProcessId process = 1; process <= 20; ++process) marker = died(life_after(marker, process));
  CHECK(marker.lives == 20);
  CHECK(marker.by == std::vector<ProcessId>{13, 14, 15, 16, 17, 18, 19, 20});
}

TEST_CASE("losses by processes that return condemn no record") {
  LifeMarker marker;
  for (int i = 0; i < 100; ++i) {
    CrashWatch watch(marker, 3, static_cast<ProcessId>(i % 3 + 1));
    CHECK_FALSE(watch.condemned(7));
    watch.careful() ? watch.suspect(7) : watch.begin();
    marker = died(watch);
  }
}

TEST_CASE("unneeded care ends after a few growing groups") {
  CrashWatch watch({4, {}, 0}, 3);
  std::uint32_t groups = 0;
  std::int64_t offset = 0;
  for (std::uint32_t before = 0; watch.careful(); ++groups) {
    const auto group = watch.group();
    CHECK((group > before || group == 256));
    watch.suspect(offset, group);
    watch.progressed();
    CHECK(watch.marker().lives == 5);
    watch.survived(group);
    offset += before = group;
  }
  CHECK(groups < 10);
  CHECK(offset >= CrashWatch::careful_records);
  CHECK(watch.marker() == LifeMarker{1, {}, 0});
  watch.end_cleanly();
  CHECK(watch.marker() == LifeMarker{});
}

TEST_CASE("a careful life that ends cleanly leaves its suspicion") {
  CrashWatch watch({4, 9, 0}, 3);
  watch.suspect(9);
  watch.end_cleanly();
  CHECK(watch.marker() == LifeMarker{4, 9, 0});
}

TEST_CASE("with one record at a time, care ends after the fixed number of groups") {
  CrashWatch watch({2, {}, 0}, 3);
  for (std::uint32_t i = 0; i < CrashWatch::careful_groups; ++i) {
    REQUIRE(watch.careful());
    watch.suspect(i);
    watch.survived();
  }
  CHECK_FALSE(watch.careful());
}

TEST_CASE("the group of a death runs in parts, and its suspect alone, before groups grow again") {
  CrashWatch after_group({3, {}, 0, 256}, 3);
  for (std::int64_t offset = 0; offset < 256; offset += 16) {
    CHECK(after_group.group() == 16);
    after_group.suspect(offset, 16);
    CHECK(after_group.marker() == LifeMarker{4, {}, 0, 16});
    after_group.survived(16);
  }
  CHECK(after_group.group() == 64);

  CrashWatch after_suspect({3, 20, 0}, 3);
  for (std::int64_t offset = 10; offset < 20; ++offset) {
    after_suspect.suspect(offset);
    after_suspect.survived();
    CHECK(after_suspect.group() == 1);
  }
  after_suspect.suspect(20);
  CHECK(after_suspect.marker().deaths == 1);
  after_suspect.survived();
  CHECK(after_suspect.group() == 4);
}

TEST_CASE("careful lanes take turns") {
  const TimePoint now{seconds(1)};
  CarefulTurn turn;
  std::vector<int> lanes{1, 2, 3};
  CHECK(turn.take(&lanes[0], now));
  CHECK(turn.take(&lanes[0], now));
  CHECK_FALSE(turn.take(&lanes[1], now));
  CHECK_FALSE(turn.take(&lanes[2], now));
  turn.give_back(&lanes[0]);
  CHECK_FALSE(turn.take(&lanes[0], now));  // its turn comes again when the others have had theirs
  CHECK(turn.take(&lanes[1], now));
  turn.give_back(&lanes[2]);  // the lane does not wait any more
  turn.give_back(&lanes[1]);
  CHECK(turn.take(&lanes[0], now));
}
