#include "measuring.h"

#include <algorithm>
#include <utility>

#include "process.h"

namespace bench {

using namespace laneway;

namespace {

std::uint64_t done_in_pool(const service::Service& service, const std::string& pool) {
  double sum = 0;
  for (const auto& family : service.families()) {
    if (family.name != "named_pool_attempts_total") continue;
    for (const auto& sample : family.samples) {
      const auto& labels = sample.labels;
      const bool counts = std::any_of(labels.begin(), labels.end(), [&](const auto& label) {
        return label.first == "pool" && label.second == pool;
      });
      if (counts) sum += sample.value;
    }
  }
  return static_cast<std::uint64_t>(sum);
}

std::uint64_t done_of(const service::Service& service, const Counted& counted) {
  if (!counted.pool.empty()) return done_in_pool(service, counted.pool);
  std::uint64_t sum = 0;
  for (const auto& lane : service.snapshot())
    if (lane.partition != counted.except) sum += lane.done;
  return sum;
}

}  // namespace

double sum_of(const service::Service& service, const std::string& family) {
  double sum = 0;
  for (const auto& each : service.families())
    if (each.name == family)
      for (const auto& sample : each.samples) sum += sample.value;
  return sum;
}

Moment::Moment(const service::Service& service, const Counted& counted)
    : done(done_of(service, counted)), at(SteadyClock::now()), cpu(cpu_seconds()) {}

Moment first_done(const service::Service& service, const Counted& counted) {
  return wait_for(service, counted, [](const Moment& moment) { return moment.done > 0; });
}

Json between(const Moment& begin, const Moment& end) {
  const double wall = to_seconds(end.at - begin.at);
  const auto records = static_cast<double>(end.done - begin.done);
  return {{"records", end.done - begin.done},
          {"seconds", wall},
          {"rate", records / wall},
          {"cpu_us", (end.cpu - begin.cpu) * 1e6 / records},
          {"peak_mib", peak_resident_mib()}};
}

}  // namespace bench
