#include "measuring.h"

#include <algorithm>

#include "process.h"

namespace bench {

using namespace laneway;

namespace {

std::uint64_t done_of(const service::Service& service, const Counted& counted) {
  if (!counted.pool.empty())
    return static_cast<std::uint64_t>(sum_of(service, "named_pool_attempts_total", counted.pool));
  std::uint64_t sum = 0;
  for (const auto& lane : service.snapshot())
    if (lane.partition != counted.except) sum += lane.done;
  return sum;
}

bool is_of(const telemetry::Sample& sample, const std::string& pool) {
  return std::any_of(sample.labels.begin(), sample.labels.end(),
                     [&](const auto& label) { return label.first == "pool" && label.second == pool; });
}

}  // namespace

double sum_of(const service::Service& service, const std::string& family, const std::string& pool) {
  double sum = 0;
  for (const auto& each : service.families())
    if (each.name == family)
      for (const auto& sample : each.samples)
        if (pool.empty() || is_of(sample, pool)) sum += sample.value;
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
