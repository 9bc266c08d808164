#include "telemetry/metrics.h"

#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "catch.h"

using namespace laneway::telemetry;

namespace {

/// What a scraper reads: our own small reading of the text format, sharing no code with the serializer.
/// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
struct Page {
  std::map<std::string, std::string> help;
  std::map<std::string, std::string> type;
  std::map<std::string, double> series;  // name with its labels as "name|label=value|…", unescaped
};

std::string unescaped_until_quote(std::istream& in) {
  std::string out;
  for (char c = static_cast<char>(in.get()); c != '"'; c = static_cast<char>(in.get())) {
    REQUIRE(in);
    if (c != '\\') {
      out += c;
      continue;
    }
    c = static_cast<char>(in.get());
    REQUIRE((c == '\\' || c == '"' || c == 'n'));
    out += c == 'n' ? '\n' : c;
  }
  return out;
}

void read_series(Page& page, const std::string& line) {
  std::istringstream in(line);
  std::string key;
  std::getline(in, key, line.find('{') < line.find(' ') ? '{' : ' ');
  if (line.find('{') < line.find(' ')) {
    while (in.peek() != '}') {
      std::string label;
      std::getline(in, label, '=');
      REQUIRE(in.get() == '"');
      key += "|" + label + "=" + unescaped_until_quote(in);
      if (in.peek() == ',') in.get();
    }
    in.get();
  }
  std::string value;
  in >> value;
  INFO(line);
  REQUIRE_FALSE(page.series.contains(key));
  page.series[key] = value == "+Inf"                    ? std::numeric_limits<double>::infinity()
                     : value == "Nan" || value == "NaN" ? std::numeric_limits<double>::quiet_NaN()
                                                        : std::stod(value);
}

Page read_page(const std::string& text) {
  REQUIRE((text.empty() || text.back() == '\n'));
  Page page;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string hash, keyword, name, rest;
    if (line[0] != '#') {
      read_series(page, line);
      continue;
    }
    words >> hash >> keyword >> name;
    std::getline(words >> std::ws, rest);
    auto& into = keyword == "HELP" ? page.help : page.type;
    REQUIRE_FALSE(into.contains(name));
    into[name] = rest;
  }
  return page;
}

Sample sample(std::vector<std::pair<std::string, std::string>> labels, double value) {
  return {std::move(labels), value, {}, 0, 0};
}

}  // namespace

TEST_CASE("a counter and a gauge have help, type and labels") {
  const auto page = read_page(render_metrics({[] {
    return std::vector<Family>{
        Family(metric("lane_lag_records"), {sample({{"topic", "orders"}, {"partition", "3"}}, 17)}),
        Family(metric("lane_holds_total"), {sample({{"topic", "orders"}, {"partition", "3"}}, 2)})};
  }}));
  CHECK(page.series.at("laneway_lane_lag_records|topic=orders|partition=3") == 17);
  CHECK(page.series.at("laneway_lane_holds_total|topic=orders|partition=3") == 2);
  CHECK(page.type.at("laneway_lane_lag_records") == "gauge");
  CHECK(page.type.at("laneway_lane_holds_total") == "counter");
  CHECK(page.help.at("laneway_lane_holds_total") ==
        "Times that the lane stopped taking records for a reason of its own; a suspension does not count.");
}

TEST_CASE("a histogram ends in the infinite bucket, with sum and count") {
  Sample drains;
  drains.buckets = {{0.1, 1}, {1, 3}};
  drains.sum = 7.5;
  drains.count = 4;
  const auto page = read_page(
      render_metrics({[&] { return std::vector<Family>{Family(metric("drain_seconds"), {drains})}; }}));
  CHECK(page.type.at("laneway_drain_seconds") == "histogram");
  CHECK(page.series.at("laneway_drain_seconds_bucket|le=0.1") == 1);
  CHECK(page.series.at("laneway_drain_seconds_bucket|le=1") == 3);
  CHECK(page.series.at("laneway_drain_seconds_bucket|le=+Inf") == 4);
  CHECK(page.series.at("laneway_drain_seconds_sum") == 7.5);
  CHECK(page.series.at("laneway_drain_seconds_count") == 4);
}

TEST_CASE("recorded durations become cumulative buckets in seconds") {
  laneway::Histogram waits;
  waits.record(laneway::microseconds(1));
  waits.record(laneway::microseconds(3), 2);
  waits.record(laneway::seconds(1000));
  const auto page = read_page(render_metrics({[&] {
    return std::vector<Family>{Family(metric("pool_queue_wait_seconds"),
                                      {histogram_sample({{"topic", "orders"}}, waits.snapshot())})};
  }}));
  const std::string name = "laneway_pool_queue_wait_seconds";
  CHECK(page.series.at(name + "_bucket|topic=orders|le=1e-06") == 1);
  CHECK(page.series.at(name + "_bucket|topic=orders|le=2e-06") == 1);
  CHECK(page.series.at(name + "_bucket|topic=orders|le=4e-06") == 3);
  CHECK(page.series.at(name + "_bucket|topic=orders|le=+Inf") == 4);
  CHECK(page.series.at(name + "_count|topic=orders") == 4);
  CHECK(page.series.at(name + "_sum|topic=orders") == 1000.000007);
}

TEST_CASE("label values and help survive quotes, backslashes and line breaks") {
  const std::string odd = "a\"b\\c\nd";
  Family family(metric("build_info"), {sample({{"version", odd}}, 1)});
  family.help = "first\nsecond \\ third";
  const auto page = read_page(render_metrics({[&] { return std::vector<Family>{family}; }}));
  CHECK(page.series.at("laneway_build_info|version=" + odd) == 1);
  CHECK(page.help.at("laneway_build_info") == "first\\nsecond \\\\ third");
}

TEST_CASE("large and small values keep their digits") {
  const auto page = read_page(render_metrics({[] {
    return std::vector<Family>{
        Family(metric("lane_committed_offset"), {sample({{"partition", "0"}}, 9007199254740991.0)}),
        Family(metric("lane_held_seconds_total"), {sample({{"partition", "0"}}, 0.0000125)})};
  }}));
  CHECK(page.series.at("laneway_lane_committed_offset|partition=0") == 9007199254740991.0);
  CHECK(page.series.at("laneway_lane_held_seconds_total|partition=0") == 0.0000125);
}

TEST_CASE("families of one name from several providers are merged into one family") {
  const auto of = [](const char* partition) {
    return [=] {
      return std::vector<Family>{Family(metric("pool_inflight"), {sample({{"partition", partition}}, 1)})};
    };
  };
  const auto page = read_page(render_metrics({of("0"), of("1")}));
  CHECK(page.series.size() == 2);
}

TEST_CASE("series beyond the cap are left out and counted") {
  Family family(metric("pool_inflight"));
  for (int i = 0; i < 12; ++i) family.samples.push_back(sample({{"partition", std::to_string(i)}}, 1));
  const auto page = read_page(render_metrics({[&] { return std::vector<Family>{family}; }}, 10));
  CHECK(page.series.size() == 11);
  CHECK(page.series.at("laneway_metrics_omitted_series|metric=laneway_pool_inflight") == 2);
}

TEST_CASE("the pool's names have their copies without the prefix, on request") {
  const std::vector<Provider> providers{[] {
    return std::vector<Family>{Family(metric("pool_inflight"), {sample({{"partition", "0"}}, 3)}),
                               Family(metric("pool_workers"), {sample({{"partition", "0"}}, 8)})};
  }};
  const auto page = read_page(render_metrics(providers, 10, true));
  CHECK(page.series.at("laneway_pool_inflight|partition=0") == 3);
  CHECK(page.series.at("pool_inflight|partition=0") == 3);
  CHECK(page.type.at("pool_inflight") == "gauge");
  CHECK(page.series.size() == 3);
  CHECK(read_page(render_metrics(providers)).series.size() == 2);
}

TEST_CASE("the names that dashboards and alerts use exist, with their types and labels") {
  struct Promise {
    const char* name;
    const char* type;
    const char* labels = "topic,partition";
  };
  constexpr Promise promises[] = {
      {"pool_jobs_total", "counter", "topic,partition,outcome"},
      {"pool_queued_total", "counter"},
      {"pool_rejections_total", "counter"},
      {"pool_inflight", "gauge"},
      {"pool_queue_depth", "gauge"},
      {"pool_queue_capacity", "gauge"},
      {"pool_workers", "gauge"},
      {"pool_workers_active", "gauge"},
      {"pool_duration_seconds", "histogram"},
      {"pool_queue_wait_seconds", "histogram"},
      {"lane_state", "gauge", "topic,partition,state"},
      {"lane_lag_records", "gauge"},
      {"lane_records_expired_total", "counter"},
      {"lane_expiry_near", "gauge"},
      {"lane_oldest_incomplete_seconds", "gauge"},
      {"lane_committed_offset", "gauge"},
      {"lane_delivered_offset", "gauge"},
      {"lane_holds_total", "counter"},
      {"lane_held_seconds_total", "counter"},
      {"lane_pauses_total", "counter"},
      {"lane_paused_seconds_total", "counter"},
      {"lane_resume_latency_seconds", "histogram"},
      {"commits_total", "counter", "result"},
      {"commit_latency_seconds", "histogram", ""},
      {"rebalances_total", "counter", "kind"},
      {"assignment_repairs_total", "counter", ""},
      {"client_throttled_seconds_total", "counter", ""},
      {"partition_silence_steps_total", "counter", "step"},
      {"producer_renewals_total", "counter", "reason"},
      {"drain_seconds", "histogram", ""},
      {"abandoned_total", "counter", ""},
      {"duplicates_suppressed_total", "counter"},
      {"dead_letters_total", "counter", "topic,partition,reason"},
      {"retries_scheduled", "gauge"},
      {"breaker_state", "gauge", "downstream"},
      {"downstream_pace", "gauge", "downstream"},
      {"downstream_calls_total", "counter", "downstream,outcome"},
      {"fetched_bytes_total", "counter"},
      {"processed_bytes_total", "counter"},
      {"memory_records_bytes", "gauge"},
      {"build_info", "gauge", "version,librdkafka"},
  };
  const auto page = read_page(render_metrics({[] {
    std::vector<Family> families;
    for (const auto& info : metric_table) families.emplace_back(info, std::vector<Sample>{{}});
    return families;
  }}));
  std::map<std::string_view, std::string_view> labels;
  for (const auto& info : metric_table) labels[info.name] = info.labels;
  for (const auto& promise : promises) {
    INFO(promise.name);
    const auto found = page.type.find(std::string("laneway_") + promise.name);
    REQUIRE(found != page.type.end());
    CHECK(found->second == promise.type);
    CHECK(labels[promise.name] == promise.labels);
  }
}

TEST_CASE("names follow Prometheus' conventions") {
  std::set<std::string_view> names;
  for (const auto& info : metric_table) {
    INFO(info.name);
    CHECK(names.insert(info.name).second);
    const bool counter = info.type == MetricType::counter;
    CHECK(info.name.ends_with("_total") == counter);
    const bool seconds = info.name.find("_seconds") != std::string_view::npos;
    const bool bytes = info.name.find("_bytes") != std::string_view::npos;
    CHECK((info.unit == "seconds") == seconds);
    CHECK((info.unit == "bytes") == bytes);
    CHECK(info.help.ends_with("."));
  }
}
