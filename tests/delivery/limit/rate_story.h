// A downstream in virtual time over some minutes, and the rate of a limit beside that of the best fixed one.
#pragma once

#include <algorithm>
#include <vector>

#include "delivery/limit/followed.h"

namespace laneway::delivery::test {

struct RateStory {
  ServerModel model{};
  std::uint32_t capacity = 100;
  LimitBounds bounds{2, 400};
  Duration settling = seconds(20);
  Duration measured = seconds(30);
  std::function<void(QueueingServer&, Duration since_begin)> changes{};  ///< called every tenth of a second
};

/// Calls that worked in a second, after the time to settle.
inline double rate_of(const RateStory& story, QueueingServer& server) {
  constexpr Duration step = milliseconds(100);
  std::size_t worked = 0;
  for (Duration time{}; time < story.settling + story.measured; time += step) {
    if (story.changes) story.changes(server, time);
    const auto seen = server.run(step);
    if (time >= story.settling) worked += seen.latencies.size();
  }
  return static_cast<double>(worked) / to_seconds(story.measured);
}

/// `limits`: those that may be the best.
inline double best_fixed_rate(const RateStory& story, std::vector<std::uint32_t> limits) {
  for (auto& limit : limits) limit = std::clamp(limit, story.bounds.min, story.bounds.max);
  if (story.model.overload != Overload::queues && !story.changes)  // more calls are only refused
    std::erase_if(limits, [&](auto limit) { return limit > std::max(2 * story.capacity, story.bounds.min); });
  std::sort(limits.begin(), limits.end());
  limits.erase(std::unique(limits.begin(), limits.end()), limits.end());
  double best = 0;
  for (const auto limit : limits) {
    QueueingServer server(story.model, story.capacity, limit);
    best = std::max(best, rate_of(story, server));
  }
  return best;
}

/// Of calls that last from 35 to 65 ms; a share of them fails.
inline ServerModel failing(double share, Broken broken = Broken::answers_503) {
  return {.times = Times::varying, .timeout = seconds(2), .failing = share, .broken = broken};
}

/// The capacity goes from 100 to 20 to 200, with 80 s for each. Measured are the last 60 s at one of them.
inline RateStory step_to(std::uint32_t capacity, const ServerModel& model) {
  const auto steps = [](QueueingServer& server, Duration time) {
    server.set_capacity(time < seconds(80) ? 100 : time < seconds(160) ? 20 : 200);
  };
  const auto begin = seconds(capacity == 100 ? 0 : capacity == 20 ? 80 : 160);
  return {.model = model,
          .bounds = {2, 250},
          .settling = begin + seconds(20),
          .measured = seconds(60),
          .changes = steps};
}

/// Calls of 20 ms become ten times as long within 20 s, after 20 s, or the other way round.
inline RateStory drift(bool slower, const ServerModel& model) {
  const auto changes = [slower](QueueingServer& server, Duration time) {
    const double part = std::clamp((to_seconds(time) - 20) / 20, 0.0, 1.0);
    server.set_service(from_seconds(slower ? 0.02 * std::pow(10, part) : 0.2 / std::pow(10, part)));
  };
  return {.model = model, .capacity = 50, .bounds = {2, 200}, .changes = changes};
}

/// A tenth of the calls fails, and all of them in a quarter of the time, which comes every `period`.
inline RateStory bursts(Duration period, RateStory story) {
  story.changes = [period](QueueingServer& server, Duration time) {
    server.set_failing(time % period < period / 4 ? 0.4 : 0);
  };
  return story;
}

}  // namespace laneway::delivery::test
