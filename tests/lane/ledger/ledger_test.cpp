#include "lane/ledger/ledger.h"

#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>

#include "catch.h"

using namespace laneway::lane;

namespace {

std::string map_text(const Ledger& ledger, std::size_t bytes = default_map_bytes) {
  return encode(ledger.completed(most_runs(bytes)), bytes);
}

/// The completed records above committable(), through their text.
CompletionMap committed_map(const Ledger& ledger, std::size_t bytes = default_map_bytes) {
  const auto decoded = decode(map_text(ledger, bytes), ledger.committable());
  REQUIRE(decoded.map);
  return *decoded.map;
}

Ledger restart(const Ledger& ledger, std::size_t map_bytes = default_map_bytes) {
  return Ledger(committed_map(ledger, map_bytes));
}

}  // namespace

TEST_CASE("a new ledger commits the start of delivery, or nothing") {
  CHECK(Ledger().committable() == Ledger::unknown);
  CHECK(Ledger(100).committable() == 100);
  CHECK_FALSE(Ledger().oldest_incomplete());
  CHECK(Ledger().window() == 0);
  CHECK(map_text(Ledger()).empty());
}

TEST_CASE("the oldest unfinished record holds back the commit") {
  Ledger ledger(100);
  const auto first = ledger.append(100, 5);
  CHECK(ledger.incomplete() == 5);
  CHECK(ledger.complete(first + 1, 4) == 4);
  CHECK(ledger.committable() == 100);
  CHECK(ledger.oldest_incomplete()->sequence == first);
  CHECK(ledger.oldest_incomplete()->offset == 100);
  CHECK(ledger.window() == 5);
  CHECK(ledger.completed_beyond() == 4);
  CHECK(ledger.complete(first) == 1);
  CHECK(ledger.completed_beyond() == 0);
  CHECK(ledger.committable() == 105);
  CHECK(ledger.window() == 0);
  CHECK(ledger.incomplete() == 0);
}

TEST_CASE("gaps between offsets are passed over") {
  Ledger ledger(0);
  const auto a = ledger.append(7);
  const auto b = ledger.append(9, 2);
  const auto c = ledger.append(22);
  CHECK(b == a + 1);
  CHECK(c == a + 3);
  CHECK(ledger.committable() == 7);
  CHECK(ledger.offset_of(b + 1) == 10);
  ledger.complete(a);
  CHECK(ledger.committable() == 9);
  ledger.complete(b, 2);
  CHECK(ledger.committable() == 22);
  ledger.complete(c);
  CHECK(ledger.committable() == 23);
}

TEST_CASE("the end of the partition is committed once all delivered records are finished") {
  Ledger ledger(40);
  const auto last = ledger.append(42);
  ledger.reached(44);  // a transaction marker at 43
  CHECK(ledger.committable() == 42);
  ledger.complete(last);
  CHECK(ledger.committable() == 44);
  ledger.reached(43);
  CHECK(ledger.committable() == 44);
  CHECK(ledger.would_go_back(43));
  CHECK_FALSE(ledger.would_go_back(44));
}

TEST_CASE("offsets after the end of the partition keep their own numbers") {
  Ledger ledger(0);
  const auto first = ledger.append(5);
  ledger.reached(8);
  const auto second = ledger.append(8);
  CHECK(ledger.offset_of(first) == 5);
  CHECK(ledger.offset_of(second) == 8);
}

TEST_CASE("a record that finishes twice counts once") {
  Ledger ledger(0);
  const auto first = ledger.append(0, 200);
  CHECK(ledger.complete(first + 60, 10) == 10);
  CHECK(ledger.complete(first + 60, 10) == 0);
  CHECK(ledger.complete(first + 50, 100) == 90);
  CHECK(ledger.complete(first, 150) == 50);
  CHECK(ledger.complete(first, 150) == 0);
  CHECK(ledger.incomplete() == 50);
}

TEST_CASE("the oldest unfinished record may be the first or the last of the 64 that share a word") {
  const auto oldest = GENERATE(range<std::uint32_t>(60, 70));
  Ledger ledger(0);
  ledger.append(0, 130);
  ledger.complete(oldest + 1, 5);
  ledger.complete(0, oldest);
  CHECK(ledger.oldest_incomplete()->sequence == oldest);
  CHECK(ledger.complete(oldest + 1, 5) == 0);
  CHECK(ledger.complete(oldest) == 1);
  CHECK(ledger.committable() == oldest + 6);
  CHECK(ledger.complete(oldest + 6, 130 - oldest - 6) == 130 - oldest - 6);
  CHECK(ledger.committable() == 130);
}

TEST_CASE("the map's version changes when records above the oldest unfinished one finish") {
  Ledger ledger(0);
  const auto first = ledger.append(0, 10);
  const auto at_start = ledger.map_version();
  ledger.complete(first, 2);
  CHECK(ledger.map_version() == at_start);
  CHECK(map_text(ledger).empty());
  ledger.complete(first + 5);
  const auto with_one = ledger.map_version();
  CHECK(with_one != at_start);
  ledger.complete(first + 5);
  CHECK(ledger.map_version() == with_one);
}

TEST_CASE("a restored ledger has the finished records above the committed offset") {
  Ledger ledger(100);
  const auto first = ledger.append(100, 10);
  ledger.complete(first);
  ledger.complete(first + 3, 2);
  ledger.complete(first + 9);
  CHECK(committed_map(ledger) == CompletionMap{101, {{103, 105}, {109, 110}}});

  const auto restored = restart(ledger);
  CHECK(restored.committable() == 101);
  for (const std::int64_t offset : {101, 102, 105, 108, 110}) CHECK_FALSE(restored.completed_before(offset));
  for (const std::int64_t offset : {103, 104, 109}) CHECK(restored.completed_before(offset));
}

TEST_CASE("a run in the map spans a gap only between two finished records") {
  Ledger ledger(0);
  const auto first = ledger.append(0);
  const auto second = ledger.append(10);
  ledger.append(20);
  const auto fourth = ledger.append(30);
  const auto fifth = ledger.append(40);
  ledger.complete(second);
  ledger.complete(fourth);
  ledger.complete(fifth);
  ledger.reached(50);
  CHECK(committed_map(ledger) == CompletionMap{0, {{10, 11}, {30, 41}}});
  ledger.complete(first);
  CHECK(committed_map(ledger) == CompletionMap{20, {{30, 41}}});
}

TEST_CASE("a second crash before everything was delivered again loses nothing of the map") {
  Ledger restored(CompletionMap{100, {{103, 105}, {109, 120}}});
  CHECK(committed_map(restored) == CompletionMap{100, {{103, 105}, {109, 120}}});

  restored.append(100, 4);
  restored.complete(3);  // 103: completed before
  CHECK(committed_map(restored) == CompletionMap{100, {{103, 105}, {109, 120}}});
  restored.complete(0, 3);
  CHECK(committed_map(restored) == CompletionMap{104, {{104, 105}, {109, 120}}});

  restored.reached(112);
  CHECK(committed_map(restored) == CompletionMap{112, {{112, 120}}});
  restored.append(120);
  CHECK(committed_map(restored) == CompletionMap{120, {}});
}

TEST_CASE("the requested number of runs is returned, from the oldest on") {
  Ledger restored(CompletionMap{100, {{110, 111}, {120, 121}}});
  restored.append(100, 2);
  restored.complete(1);
  CHECK(restored.completed(0).runs.empty());
  CHECK(restored.completed(1).runs == std::vector<OffsetRun>{{101, 102}});
  CHECK(restored.completed(2).runs == std::vector<OffsetRun>{{101, 102}, {110, 111}});
  CHECK(restored.completed(9).runs.size() == 3);
}

TEST_CASE("the ledger agrees with a simple model for every order of events") {
  struct Model {
    std::int64_t next = 0;
    std::map<Sequence, std::int64_t> offsets;  // all of them
    std::set<Sequence> incomplete;
    std::int64_t committable() const { return incomplete.empty() ? next : offsets.at(*incomplete.begin()); }
  };
  REQUIRE(rc::check("ledger against model", [] {
    Model model;
    model.next = *rc::gen::inRange(0, 1000);
    Ledger ledger(model.next);
    auto committable = ledger.committable();
    for (int step = *rc::gen::inRange(0, 200); step > 0; --step) {
      const auto appended = model.offsets.size();
      switch (*rc::gen::weightedElement<int>({{4, 0}, {5, 1}, {1, 2}})) {
        case 0: {
          const auto offset = model.next + *rc::gen::weightedElement<std::int64_t>({{3, 0}, {1, 1}, {1, 17}});
          const auto count = *rc::gen::element(1, 1, 2, 63, 64, 65, 300);
          RC_ASSERT(ledger.append(offset, static_cast<std::uint32_t>(count)) == appended);
          for (int i = 0; i < count; ++i) {
            model.offsets[appended + static_cast<Sequence>(i)] = offset + i;
            model.incomplete.insert(appended + static_cast<Sequence>(i));
          }
          model.next = offset + count;
          break;
        }
        case 1: {
          if (appended == 0) break;
          const auto old =
              model.incomplete.empty() || *rc::gen::arbitrary<bool>() ? 0 : *model.incomplete.begin();
          const auto first = *rc::gen::inRange<Sequence>(old, appended);
          const auto to_word = 64 - first % 64;  // up to the last record that shares a word with the first
          const auto wanted =
              *rc::gen::element<Sequence>(1, to_word, 64 + to_word, *rc::gen::inRange<Sequence>(1, 131));
          const auto count = std::min<Sequence>(appended - first, wanted);
          Sequence newly = 0;
          for (Sequence s = first; s < first + count; ++s) newly += model.incomplete.erase(s);
          RC_ASSERT(ledger.complete(first, static_cast<std::uint32_t>(count)) == newly);
          break;
        }
        default:
          model.next += *rc::gen::inRange(0, 3);
          ledger.reached(model.next);
      }
      RC_ASSERT(ledger.committable() == model.committable());
      RC_ASSERT(ledger.committable() >= committable);
      committable = ledger.committable();
      RC_ASSERT(ledger.incomplete() == model.incomplete.size());
      RC_ASSERT(ledger.oldest_incomplete().has_value() == !model.incomplete.empty());
      if (model.incomplete.empty()) continue;
      const auto oldest = *model.incomplete.begin();
      RC_ASSERT(ledger.oldest_incomplete()->sequence == oldest);
      RC_ASSERT(ledger.window() == model.offsets.size() - oldest);
      const auto probe = *rc::gen::inRange<Sequence>(oldest, model.offsets.size());
      RC_ASSERT(ledger.offset_of(probe) == model.offsets.at(probe));
    }
  }));
}

TEST_CASE("after any crash, exactly the finished records of the map are suppressed") {
  REQUIRE(rc::check("restore", [] {
    std::vector<std::int64_t> log;  // the offsets of a partition
    for (int count = *rc::gen::inRange(1, 300); count > 0; --count)
      log.push_back((log.empty() ? 0 : log.back()) +
                    *rc::gen::weightedElement<std::int64_t>({{5, 1}, {1, 2}, {1, 9}}));
    std::set<std::int64_t> done;
    Ledger ledger(0);
    auto committed = ledger.committable();
    for (int life = *rc::gen::inRange(1, 5); life > 0; --life) {
      std::vector<std::int64_t> delivered;
      const auto begin = std::lower_bound(log.begin(), log.end(), ledger.committable());
      const auto count = *rc::gen::inRange<std::ptrdiff_t>(0, log.end() - begin + 1);
      for (auto it = begin; it != begin + count; ++it) {
        const bool suppressed = ledger.completed_before(*it);
        RC_ASSERT(!suppressed || done.count(*it) > 0);
        const auto sequence = ledger.append(*it);
        if (!suppressed && *rc::gen::arbitrary<bool>()) done.insert(*it);
        if (suppressed || done.count(*it) > 0) ledger.complete(sequence);
      }
      for (const auto offset : log)
        if (offset < ledger.committable() && done.count(offset) == 0)
          RC_FAIL("committed an incomplete record");
      RC_ASSERT(ledger.committable() >= committed);
      committed = ledger.committable();

      const auto map = ledger.completed(1000);
      for (const auto offset : log)
        if (map.contains(offset) && done.count(offset) == 0) RC_FAIL("the map holds an incomplete record");
      const auto limit = *rc::gen::element<std::size_t>(0, 40, 100, default_map_bytes);
      const auto kept = committed_map(ledger, limit);
      if (limit == default_map_bytes) RC_ASSERT(kept == map);
      ledger = restart(ledger, limit);
      for (const auto offset : log)
        if (ledger.completed_before(offset) != kept.contains(offset))
          RC_FAIL("suppresses not what the map holds");
    }
  }));
}

TEST_CASE("an unfinished record is found by its offset") {
  Ledger ledger(10);
  ledger.append(10, 3);
  ledger.append(100, 200);
  ledger.complete(0);
  ledger.complete(2, 100);
  CHECK_FALSE(ledger.incomplete_at(9));
  CHECK_FALSE(ledger.incomplete_at(10));
  CHECK(ledger.incomplete_at(11) == Sequence{1});
  CHECK_FALSE(ledger.incomplete_at(12));
  CHECK_FALSE(ledger.incomplete_at(50));
  CHECK_FALSE(ledger.incomplete_at(198));
  CHECK(ledger.incomplete_at(199) == Sequence{102});
  CHECK(ledger.incomplete_at(299) == Sequence{202});
  CHECK_FALSE(ledger.incomplete_at(300));
  CHECK_FALSE(Ledger(0).incomplete_at(0));
}
