#include "lane/crash_watch.h"

#include <rapidcheck.h>

#include "catch.h"

using namespace laneway::lane;

namespace {

/// What the next life reads when this one dies after its last commit.
LifeMarker died(const CrashWatch& watch) { return watch.marker(); }

}  // namespace

TEST_CASE("a marker is taken off the front of the metadata, and nothing else is") {
  REQUIRE(rc::check("any marker before any map", [] {
    LifeMarker marker{*rc::gen::inRange<std::uint32_t>(1, 1'000'000), {}, 0};
    if (*rc::gen::arbitrary<bool>()) {
      marker.suspect = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 60);
      marker.deaths = *rc::gen::inRange<std::uint32_t>(0, 1000);
    }
    const std::string text = encode(marker) + "laneway1:6AcCAwrIAdIyeeU";
    std::string_view rest = text;
    RC_ASSERT(take_marker(rest) == marker);
    RC_ASSERT(rest == "laneway1:6AcCAwrIAdIyeeU");
  }));
  for (const char* text :
       {"", "laneway1:6AcCAwrIAdIyeeU", "lives=", "lives=x ", "lives=-1 ", "lives=1", "somebody's",
        "lives=99999999999999 ", "lives=2 suspect=7 ", "lives=2 suspect=7 deaths=1"}) {
    std::string_view rest = text;
    CHECK(take_marker(rest) == LifeMarker{});
    CHECK(rest == text);
  }
  CHECK(encode(LifeMarker{}).empty());
  CHECK(encode(LifeMarker{2, 7, 1}) == "lives=2 suspect=7 deaths=1 ");
}

TEST_CASE("lives without progress are counted, progress and a clean end set them back") {
  const CrashWatch first({}, 3);
  CHECK(first.marker() == LifeMarker{1, {}, 0});
  CHECK_FALSE(first.begins_unclean());
  CrashWatch second(died(first), 3);
  CHECK(second.marker() == LifeMarker{2, {}, 0});
  CHECK(second.begins_unclean());
  CHECK_FALSE(second.careful());
  const CrashWatch third(died(second), 3);
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

TEST_CASE("a suspect of several lives is condemned, another one begins anew") {
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

TEST_CASE("a careful life ends its care after enough records, and keeps what it knew when it ends cleanly") {
  CrashWatch watch({4, 9, 0}, 3);
  for (std::uint32_t i = 1; i < CrashWatch::careful_records; ++i) {
    watch.suspect(i);
    watch.progressed();
    watch.survived();
  }
  REQUIRE(watch.careful());
  CHECK(watch.marker().lives == 5);
  CrashWatch ends_early = watch;
  ends_early.end_cleanly();
  CHECK(ends_early.marker() == LifeMarker{4, 9, 0});

  watch.survived();
  CHECK_FALSE(watch.careful());
  CHECK(watch.marker() == LifeMarker{1, {}, 0});
  watch.end_cleanly();
  CHECK(watch.marker() == LifeMarker{});
}

TEST_CASE("without max_crashes nothing is written and nobody is careful") {
  CrashWatch watch({7, 3, 5}, 0);
  watch.progressed();
  watch.end_cleanly();
  CHECK(watch.version() == 0);
  CHECK(watch.marker() == LifeMarker{});
  CHECK_FALSE(watch.careful());
  CHECK_FALSE(watch.condemned(3));
}
