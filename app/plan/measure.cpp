#include "app/plan/measure.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/plan/numbers.h"
#include "base/outside_json.h"

namespace laneway::plan {
namespace {

using Json = nlohmann::json;

/// As many digits as a measurement is worth.
Duration rounded(Duration duration) {
  using namespace std::chrono;
  if (duration >= seconds(10)) return round<seconds>(duration);
  if (duration >= milliseconds(10)) return round<milliseconds>(duration);
  return duration >= microseconds(10) ? Duration(round<microseconds>(duration)) : duration;
}

Reading::Lane lane_of(const Json& json) {
  Reading::Lane lane;
  lane.finished = json.at("finished").get<std::uint64_t>();
  lane.bytes = json.at("finished_bytes").get<std::uint64_t>();
  lane.work = from_seconds(json.at("work_seconds").get<double>());
  lane.lag = json.at("lag").is_null() ? 0 : json.at("lag").get<std::int64_t>();
  const auto running = json.at("in_flight").get<std::uint64_t>();
  lane.taken =
      running + json.at("queued").get<std::uint64_t>() + json.value("waiting_for_pools", std::uint64_t{0});
  const auto workers = json.value("workers", std::uint64_t{0});
  lane.all_busy = workers > 0 && running >= workers;
  lane.held = json.value("held_by", "");
  return lane;
}

/// Sums over all lanes of all services.
struct Sums {
  double finished = 0;
  double bytes = 0;
  double lag_growth = 0;
  Duration work{};
  Duration processor{};
  std::uint64_t lag = 0;
  std::uint64_t backlog = 0;
  std::uint64_t lanes = 0;
  std::vector<std::string> strained;
};

const Error moved{ErrorKind::unavailable, "lanes were assigned or revoked during the measurement",
                  "try again"};

std::uint64_t lag_of(const Reading::Lane& lane) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(lane.lag, 0));
}

/// Why the lane does not keep up; empty if it does. Both readings count: for a moment, any lane is full.
std::string strain_of(const Reading::Lane& then, const Reading::Lane& now) {
  if (!then.held.empty() && !now.held.empty()) return "held: " + now.held;
  if (!then.all_busy || !now.all_busy) return "";
  if (now.lag > then.lag) return "all workers are busy, and the lag rises";
  return lag_of(now) > now.taken ? "all workers are busy, and records wait" : "";
}

Status add(Sums& sums, const Reading& before, const Reading& after) {
  if (before.lanes.size() != after.lanes.size()) return moved;
  for (const auto& [name, now] : after.lanes) {
    const auto found = before.lanes.find(name);
    if (found == before.lanes.end() || found->second.finished > now.finished) return moved;
    const auto& then = found->second;
    sums.finished += static_cast<double>(now.finished - then.finished);
    sums.lag_growth += static_cast<double>(now.lag - then.lag);
    sums.bytes += static_cast<double>(now.bytes - std::min(now.bytes, then.bytes));
    sums.work += now.work - then.work;
    const auto lag = lag_of(now);
    sums.lag += lag;
    sums.backlog += lag - std::min(lag, now.taken);
    ++sums.lanes;
    if (const auto strain = strain_of(then, now); !strain.empty())
      sums.strained.push_back(name + " (" + strain + ')');
  }
  sums.processor += after.processor - before.processor;
  return {};
}

}  // namespace

Error not_laneway() {
  return {ErrorKind::unavailable,
          "GET /status does not return the status of a laneway service of this version",
          "--from takes the address of admin.listen, such as 127.0.0.1:9644"};
}

Result<Reading> read_status(const std::string& status) {
  try {
    const auto json = parse_outside_json(status);
    Reading reading;
    for (const auto& lane : json.at("lanes"))
      reading.lanes.emplace(
          lane.at("topic").get<std::string>() + ':' + std::to_string(lane.at("partition").get<int>()),
          lane_of(lane));
    const auto& settings = json.at("settings");
    reading.workers = std::max<std::uint64_t>(settings.at("workers").get<std::uint64_t>(), 1);
    reading.queue = settings.at("queue").get<std::uint64_t>();
    reading.memory = settings.at("memory_bytes").get<std::uint64_t>();
    reading.drain = from_seconds(settings.at("drain_seconds").get<double>());
    reading.cores = std::max<std::uint64_t>(json.at("processors").at("count").get<std::uint64_t>(), 1);
    reading.processor = from_seconds(json.at("processors").at("seconds").get<double>());
    return reading;
  } catch (const Json::exception&) {
    return not_laneway();
  }
}

Result<Measured> measure(const std::vector<Reading>& before, const std::vector<Reading>& after,
                         Duration window) {
  Sums sums;
  for (std::size_t i = 0; i < after.size(); ++i)
    if (auto status = add(sums, before[i], after[i]); !status) return status.error();
  if (sums.finished == 0)
    return Error{ErrorKind::unavailable,
                 "no record was finished in " + about(window) + ", so nothing can be measured",
                 "give a longer --window, or --rate and --service-time instead of --from"};
  Measured measured;
  measured.finished = sums.finished / to_seconds(window);
  measured.growth = sums.lag_growth / to_seconds(window);
  measured.lag = sums.lag;
  Load& load = measured.load;
  load.running = Running{after.front().workers, after.front().queue};
  load.record_bytes = static_cast<std::uint64_t>(std::lround(sums.bytes / sums.finished));
  load.memory = after.front().memory;
  // A lag that falls by more than is finished is retention, or an end that was read late.
  load.rate = std::max(measured.finished + measured.growth, measured.finished / 100);
  load.service_time =
      std::max<Duration>(rounded(from_seconds(to_seconds(sums.work) / sums.finished)), microseconds(1));
  load.cpu = rounded(from_seconds(to_seconds(sums.processor) / sums.finished));
  load.partitions = sums.lanes;
  load.instances = after.size();
  load.cores = after.front().cores;
  load.backlog = sums.backlog;
  load.drain = after.front().drain;
  load.strained = std::move(sums.strained);
  load.shrinking = -measured.growth;
  // The window is a little shorter where the answers took long.
  load.measured_well =
      window >= least_window * 95 / 100 && sums.finished >= static_cast<double>(least_records);
  return measured;
}

}  // namespace laneway::plan
