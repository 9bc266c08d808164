#include "telemetry/series_cap.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "catch.h"

using namespace laneway;
using namespace laneway::telemetry;

namespace {

struct Lane {
  int partition;
  double number;  // of everything that the lane says
  std::string topic = "orders";
};

Sample sample(const Lane& lane) {
  Sample made;
  made.labels = {{"topic", lane.topic}, {"partition", std::to_string(lane.partition)}};
  made.value = lane.number;
  return made;
}

std::vector<Family> page_of(const std::vector<Lane>& lanes) {
  std::vector<Family> families{
      Family(metric("lane_lag_records")),      Family(metric("lane_oldest_incomplete_seconds")),
      Family(metric("lane_committed_offset")), Family(metric("dead_letters_total")),
      Family(metric("pool_duration_seconds")), Family(metric("commits_total"))};
  for (const auto& lane : lanes) {
    for (int i = 0; i < 3; ++i) families[static_cast<std::size_t>(i)].samples.push_back(sample(lane));
    auto reason = sample(lane);
    reason.labels.emplace_back("reason", "rejected");
    families[3].samples.push_back(reason);
    auto times = sample({lane.partition, 0, lane.topic});
    times.count = static_cast<std::uint64_t>(lane.number);
    times.sum = 2 * lane.number;
    times.buckets = {{0.1, times.count / 2}, {1, times.count}};
    families[4].samples.push_back(times);
  }
  Sample commits;
  commits.labels = {{"result", "success"}};
  commits.value = 7;
  families[5].samples.push_back(commits);
  return families;
}

/// The value of a family's sample for a partition; nothing where there is none.
std::optional<double> value(const std::vector<Family>& page, const std::string& family,
                            const std::string& partition, const std::string& topic = "orders") {
  for (const auto& each : page)
    if (each.name == family)
      for (const auto& one : each.samples)
        if (one.labels[0].second == topic && one.labels[1].second == partition)
          return one.value + static_cast<double>(one.count);
  return std::nullopt;
}

std::vector<Family> capped(SeriesCap& cap, const std::vector<Lane>& lanes) {
  auto page = page_of(lanes);
  cap.apply(page);
  return page;
}

std::size_t length_of(const std::vector<Family>& page) {
  std::size_t series = 0;
  for (const auto& family : page) series += family.samples.size();
  return series;
}

}  // namespace

TEST_CASE("partitions have series of their own up to the cap") {
  SeriesCap cap(3);
  const auto page = capped(cap, {{2, 5}, {10, 6}, {1, 7}});
  CHECK(value(page, "lane_lag_records", "10") == 6);
  CHECK_FALSE(value(page, "lane_lag_records", "other"));
}

TEST_CASE("partitions beyond the cap share a series: sums, the highest age, and no offset") {
  SeriesCap cap(2);
  const auto page = capped(cap, {{2, 5}, {10, 6}, {1, 7}, {9, 8}});
  CHECK(value(page, "lane_lag_records", "1") == 7);
  CHECK(value(page, "lane_lag_records", "2") == 5);
  CHECK(value(page, "lane_lag_records", "other") == 14);
  CHECK(value(page, "lane_oldest_incomplete_seconds", "other") == 8);
  CHECK_FALSE(value(page, "lane_committed_offset", "other"));
  CHECK(value(page, "lane_committed_offset", "2") == 5);
  CHECK_FALSE(value(page, "lane_lag_records", "9"));
  CHECK(page.back().samples.size() == 1);
}

TEST_CASE("a counter of the others grows by their increase since the last page, whoever joins or leaves") {
  for (const std::string counter : {"dead_letters_total", "pool_duration_seconds"}) {
    INFO(counter);
    SeriesCap of_counter(1);
    const auto others = [&](const std::vector<Lane>& lanes) {
      return value(capped(of_counter, lanes), counter, "other");
    };
    CHECK_FALSE(others({{0, 100}}));
    CHECK(others({{0, 100}, {1, 50}, {2, 20}}) == 0);  // counted before there were too many
    CHECK(others({{0, 110}, {1, 54}, {2, 20}}) == 4);
    CHECK(others({{0, 110}, {1, 54}}) == 4);           // 2 left
    CHECK(others({{0, 110}, {1, 54}, {3, 6}}) == 10);  // 3 is new
    CHECK(others({{1, 60}, {3, 8}}) == 12);            // 1 has series of its own now
    CHECK(others({{0, 3}, {1, 61}, {3, 8}}) == 13);    // and is back
    CHECK(others({{0, 3}, {1, 2}, {3, 8}}) == 15);     // it began anew
    CHECK(others({{0, 3}}) == 15);
  }
}

TEST_CASE("the others' histogram has the buckets of all of them") {
  SeriesCap cap(1);
  capped(cap, {{0, 1}, {1, 0}, {2, 0}});
  const auto page = capped(cap, {{0, 1}, {1, 10}, {2, 4}});
  const auto& others = page[4].samples.back();
  CHECK(others.labels[1].second == "other");
  CHECK(others.count == 14);
  CHECK(others.sum == 28);
  CHECK(others.buckets == std::vector<std::pair<double, std::uint64_t>>{{0.1, 7}, {1, 14}});
}

TEST_CASE("a page is as long with ten thousand partitions as with a few above the cap, at any rebalance") {
  SeriesCap cap(4);
  std::size_t length = 0;
  for (int page_number = 0; page_number < 20; ++page_number) {
    std::vector<Lane> lanes;
    const int first = page_number * 37;
    for (int i = first; i < first + (page_number % 2 == 0 ? 10 : 1000); ++i) lanes.push_back({i, 1});
    const auto series = length_of(capped(cap, lanes));
    if (page_number == 0) length = series;
    CHECK(series == length);
  }
}

TEST_CASE("the others of a topic have a series as long as the topic has a partition") {
  for (const std::string counter : {"dead_letters_total", "pool_duration_seconds"}) {
    INFO(counter);
    SeriesCap of_counter(3);
    const auto others = [&](const std::vector<Lane>& lanes, const std::string& topic) {
      return value(capped(of_counter, lanes), counter, "other", topic);
    };
    const std::vector<Lane> a{{0, 1, "a"}, {1, 1, "a"}};
    const auto with = [&](std::vector<Lane> lanes) {
      lanes.insert(lanes.begin(), a.begin(), a.end());
      return lanes;
    };
    CHECK(others(with({{0, 1, "b"}, {1, 5, "b"}, {0, 7, "c"}}), "b") == 0);
    CHECK(others(with({{0, 1, "b"}, {1, 8, "b"}, {0, 9, "c"}}), "b") == 3);
    CHECK(others(with({{0, 1, "b"}}), "c") == std::nullopt);    // c was revoked
    CHECK(others(with({{0, 1, "b"}}), "b") == 3);               // one of b is left
    CHECK(others(with({{0, 1, "b"}, {0, 4, "c"}}), "c") == 4);  // it came back, and begins anew
  }
}

TEST_CASE("the others of topics beyond the first share a series, and its counters never fall") {
  SeriesCap cap(2);
  const auto page = [&](const std::vector<Lane>& lanes) { return capped(cap, lanes); };
  page({{0, 1, "a"}, {0, 1, "b"}, {0, 10, "c"}, {0, 20, "d"}});
  const auto next = page({{0, 1, "a"}, {0, 1, "b"}, {0, 13, "c"}, {0, 24, "d"}});
  CHECK(value(next, "lane_lag_records", "other", "other") == 37);
  CHECK(value(next, "lane_oldest_incomplete_seconds", "other", "other") == 24);
  CHECK(value(next, "dead_letters_total", "other", "other") == 7);
  CHECK(value(next, "pool_duration_seconds", "other", "other") == 7);
  CHECK_FALSE(value(next, "dead_letters_total", "other", "c"));
  const auto later = page({{0, 1, "a"}, {0, 14, "c"}, {0, 25, "d"}});  // c is among the first now
  CHECK(value(later, "dead_letters_total", "0", "c") == 14);
  CHECK(value(later, "dead_letters_total", "other", "other") == 8);
}

TEST_CASE("a page is no longer with a thousand new topics, page after page") {
  SeriesCap cap(4);
  std::size_t length = 0;
  for (int page_number = 0; page_number < 20; ++page_number) {
    std::vector<Lane> lanes;
    for (int i = 0; i < 1000; ++i) lanes.push_back({0, 1, std::to_string(page_number * 1000 + i)});
    const auto series = length_of(capped(cap, lanes));
    if (page_number == 0) length = series;
    CHECK(series == length);
  }
  CHECK(length <= 5 * (2 * 4 + 1) + 1);
}
