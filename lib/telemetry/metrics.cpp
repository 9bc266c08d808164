#include "telemetry/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

namespace laneway::telemetry {
namespace {

/// Line breaks would end the HELP line early; the serializer does not escape them there.
std::string one_line(std::string_view help) {
  std::string out;
  for (const char c : help) {
    if (c == '\\' || c == '\n') out += '\\';
    out += c == '\n' ? 'n' : c;
  }
  return out;
}

prometheus::ClientMetric converted(MetricType type, const Sample& sample) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : sample.labels) metric.label.push_back({name, value});
  if (type == MetricType::counter) metric.counter.value = sample.value;
  if (type == MetricType::gauge) metric.gauge.value = sample.value;
  if (type != MetricType::histogram) return metric;
  metric.histogram.sample_count = sample.count;
  metric.histogram.sample_sum = sample.sum;
  for (const auto& [bound, count] : sample.buckets) metric.histogram.bucket.push_back({count, bound});
  return metric;
}

/// In the order of MetricType.
constexpr std::array types{prometheus::MetricType::Counter, prometheus::MetricType::Gauge,
                           prometheus::MetricType::Histogram};

prometheus::MetricFamily converted(const Family& family, std::size_t most_series) {
  prometheus::MetricFamily out;
  out.name = "laneway_" + std::string(family.name);
  out.help = one_line(family.help);
  out.type = types[static_cast<std::size_t>(family.type)];
  const auto count = std::min(family.samples.size(), most_series);
  for (std::size_t i = 0; i < count; ++i) out.metric.push_back(converted(family.type, family.samples[i]));
  return out;
}

std::map<std::string, Family> gathered(const std::vector<Provider>& providers) {
  std::map<std::string, Family> families;
  for (const Provider& provider : providers) {
    for (Family& family : provider()) {
      const auto [at, is_new] = families.try_emplace(std::string(family.name), std::move(family));
      if (is_new) continue;
      auto& samples = at->second.samples;
      samples.insert(samples.end(), std::make_move_iterator(family.samples.begin()),
                     std::make_move_iterator(family.samples.end()));
    }
  }
  return families;
}

bool has_alias(const std::string& name) {
  static constexpr std::array<std::string_view, 4> names = {"pool_jobs_total", "pool_inflight",
                                                            "pool_queue_depth", "pool_duration_seconds"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Sample histogram_sample(Labels labels, const Histogram::Snapshot& snapshot) {
  Sample sample{std::move(labels), 0, {}, to_seconds(snapshot.sum), 0};
  for (std::size_t i = 0; i < Histogram::buckets; ++i) {
    sample.count += snapshot.counts[i];
    if (i < Histogram::bounded_buckets)
      sample.buckets.emplace_back(to_seconds(Histogram::upper_bound(i)), sample.count);
  }
  return sample;
}

std::string render_metrics(const std::vector<Provider>& providers, std::size_t most_series,
                           bool pool_aliases) {
  Family omitted(metric("metrics_omitted_series"));
  std::vector<prometheus::MetricFamily> out;
  for (const auto& [name, family] : gathered(providers)) {
    if (family.samples.empty()) continue;
    out.push_back(converted(family, most_series));
    if (pool_aliases && has_alias(name)) {
      auto alias = out.back();
      alias.name = name;
      out.push_back(std::move(alias));
    }
    if (family.samples.size() > most_series)
      omitted.add({{"metric", "laneway_" + name}}, family.samples.size() - most_series);
  }
  if (!omitted.samples.empty()) out.push_back(converted(omitted, omitted.samples.size()));
  return prometheus::TextSerializer().Serialize(out);
}

}  // namespace laneway::telemetry
