#include "service/members/coordinator_guard.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "config/client/client_keys.h"
#include "kafka/admin/directory.h"
#include "telemetry/log.h"

namespace laneway::service {
namespace {

/// In units. Also the time for which a found coordinator counts as found again.
constexpr int patience = 4;
constexpr Duration longest_search = seconds(5);
constexpr Duration one_search = milliseconds(500);

Duration longest_missing(const Loops& loops, TimePoint now) {
  Duration longest{};
  for (const auto& loop : loops) {
    const auto since = loop->stats().no_coordinator_since_ns.get();
    if (since != 0) longest = std::max<Duration>(longest, now - TimePoint(Duration(since)));
  }
  return longest;
}

/// Asks with a new client for a committed offset of the group, which only the coordinator can answer.
bool reaches_coordinator(const config::Config& config, const std::atomic<int>& stops) {
  auto client = config.kafka;
  client.erase("group.instance.id");
  auto directory = kafka::Directory::open(client);
  if (!directory) return false;
  const auto deadline = Deadline::in(longest_search);
  const auto patience_left = [&] { return std::min<Duration>(deadline.left(), one_search); };
  while (!deadline.passed() && stops.load() == 0) {
    const auto found = (*directory)->consumed(config::ConsumedTopics(config), patience_left());
    if (found && !found->topics.empty() &&
        (*directory)->committed({{found->topics.front().name, 0}}, patience_left()))
      return true;
    std::this_thread::sleep_for(milliseconds(100));
  }
  return false;
}

}  // namespace

Duration silence_unit(const kafka::ClientSettings& client) {
  return std::max<Duration>(config::request_timeout(client) / 2, seconds(1));
}

bool CoordinatorGuard::question_due(Duration missing, Duration unit, TimePoint now) {
  if (missing > Duration::zero())
    found_since_.reset();
  else if (!found_since_)
    found_since_ = now, unreached_ = false;
  if (found_since_ && now - *found_since_ >= patience * unit) renewed_ = false;
  return missing >= patience * unit && now >= next_question_;
}

CoordinatorGuard::Step CoordinatorGuard::hear(bool reached, Duration unit, TimePoint now) {
  next_question_ = now + unit;
  const bool came_back = std::exchange(unreached_, !reached);
  if (!reached || came_back) return Step::wait;
  if (renewed_) return Step::end;
  renewed_ = true;
  found_since_.reset();
  return Step::renew;
}

bool CoordinatorSearch::renewal_due(const config::Config& config, const Loops& loops, Duration unit,
                                    const std::atomic<int>& stops) {
  if (failure_) return false;
  const auto missing = longest_missing(loops, SteadyClock::now());
  if (!guard_.question_due(missing, unit, SteadyClock::now())) return false;
  const bool reached = reaches_coordinator(config, stops);
  const auto step = guard_.hear(reached, unit, SteadyClock::now());
  if (stops.load() > 0) return false;
  if (!reached)
    telemetry::warn("a member has no coordinator of its group, and a new client does not reach it either",
                    {{"missing_ms", missing}});
  if (step == CoordinatorGuard::Step::end)
    failure_ = Error{
        ErrorKind::fatal,
        "a member has had no connection to the coordinator of its group for " +
            std::to_string(duration_cast<seconds>(missing).count()) +
            " s, although brokers answer and a new client reaches the coordinator; new members did not help",
        "start the service again; if that does not help, see the troubleshooting page, no_coordinator"};
  return step != CoordinatorGuard::Step::wait;
}

}  // namespace laneway::service
