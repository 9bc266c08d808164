#include "telemetry/series_cap.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>
#include <utility>

namespace laneway::telemetry {
namespace {

struct Partition {
  std::string topic;
  std::int64_t number = 0;
  auto operator<=>(const Partition&) const = default;
};

bool is_partition(const Sample& sample) {
  return sample.labels.size() >= 2 && sample.labels[0].first == "topic" &&
         sample.labels[1].first == "partition";
}

Partition partition_of(const Sample& sample) {
  Partition partition{sample.labels[0].second, 0};
  const auto& number = sample.labels[1].second;
  std::from_chars(number.data(), number.data() + number.size(), partition.number);
  return partition;
}

std::set<Partition> partitions_in(const std::vector<Family>& families) {
  std::set<Partition> partitions;
  for (const auto& family : families)
    for (const auto& sample : family.samples)
      if (is_partition(sample)) partitions.insert(partition_of(sample));
  return partitions;
}

/// The first `most` topics, in their order.
std::set<std::string> topics_of(const std::set<Partition>& partitions, std::size_t most) {
  std::set<std::string> topics;
  for (auto at = partitions.begin(); at != partitions.end() && topics.size() < most; ++at)
    topics.insert(at->topic);
  return topics;
}

/// The family's name and the labels' values.
auto key_of(const Family& family, const Labels& labels) {
  std::vector<std::string> key{std::string(family.name)};
  for (const auto& [name, value] : labels) key.push_back(value);
  return key;
}

/// `now` minus `last`, or all of `now` if the counter has started again.
Sample grown(Sample now, const Sample& last) {
  if (now.value < last.value || now.count < last.count) return now;
  now.value -= last.value;
  now.count -= last.count;
  now.sum = std::max(now.sum - last.sum, 0.0);
  for (std::size_t i = 0; i < now.buckets.size() && i < last.buckets.size(); ++i)
    now.buckets[i].second -= std::min(now.buckets[i].second, last.buckets[i].second);
  return now;
}

void add(Sample& total, const Sample& more) {
  if (total.buckets.empty()) {
    total.buckets = more.buckets;
  } else {
    for (std::size_t i = 0; i < total.buckets.size() && i < more.buckets.size(); ++i)
      total.buckets[i].second += more.buckets[i].second;
  }
  total.value += more.value;
  total.count += more.count;
  total.sum += more.sum;
}

}  // namespace

struct SeriesCap::Page {
  /// The labels of the shared series that this partition belongs to.
  Labels labels_of_others(const Sample& sample) const {
    auto labels = sample.labels;
    if (!topics.contains(labels[0].second)) labels[0].second = the_others;
    labels[1].second = the_others;
    return labels;
  }

  std::set<Partition> own;
  std::set<std::string> topics;  // topics whose other partitions have a series of their own
  bool first;                    // the first page with too many partitions: earlier counts are no growth
  Counted counted;
};

void SeriesCap::apply(std::vector<Family>& families) {
  auto partitions = partitions_in(families);
  MutexLock lock(mutex_);
  if (partitions.size() <= most_ && !exceeded_) return;
  auto topics = topics_of(partitions, most_);
  if (partitions.size() > most_)
    partitions.erase(std::next(partitions.begin(), static_cast<std::ptrdiff_t>(most_)), partitions.end());
  std::erase_if(totals_, [&](const auto& total) {
    const auto& topic = total.first[1];
    return topic != the_others && !topics.contains(topic);
  });
  Page page{std::move(partitions), std::move(topics), !std::exchange(exceeded_, true), {}};
  for (auto& family : families) fold(family, page);
  last_ = std::move(page.counted);
}

void SeriesCap::fold(Family& family, Page& page) {
  std::vector<Sample> kept;
  std::map<Key, Sample> others;
  for (auto& sample : family.samples) {
    const bool other = is_partition(sample) && !page.own.contains(partition_of(sample));
    if (is_partition(sample) && family.type != MetricType::gauge) count(family, sample, other, page);
    if (!other) {
      kept.push_back(std::move(sample));
      continue;
    }
    if (family.type != MetricType::gauge || family.across == Across::omitted) continue;
    sample.labels = page.labels_of_others(sample);
    const auto [at, is_new] = others.try_emplace(key_of(family, sample.labels), sample);
    if (is_new) continue;
    at->second.value = family.across == Across::max ? std::max(at->second.value, sample.value)
                                                    : at->second.value + sample.value;
  }
  for (auto& [key, sample] : others) kept.push_back(std::move(sample));
  for (const auto& [key, sample] : totals_)
    if (key.front() == family.name) kept.push_back(sample);
  family.samples = std::move(kept);
}

void SeriesCap::count(const Family& family, const Sample& sample, bool other, Page& page) {
  auto key = key_of(family, sample.labels);
  const auto last = last_.find(key);
  if (other) {
    const auto labels = page.labels_of_others(sample);
    const auto at = totals_.try_emplace(key_of(family, labels)).first;
    at->second.labels = labels;
    if (last != last_.end() || !page.first)
      add(at->second, last == last_.end() ? sample : grown(sample, last->second));
    else if (at->second.buckets.empty())
      add(at->second, grown(sample, sample));
  }
  page.counted.insert_or_assign(std::move(key), sample);
}

}  // namespace laneway::telemetry
