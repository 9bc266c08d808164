#include "service/lanes/parked_requests.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/utc_time.h"
#include "config/pools/parking.h"
#include "config/pools/pool_scope.h"
#include "config/text.h"
#include "telemetry/log.h"

namespace laneway::service {
namespace {

using Action = ControlRequest::Action;
using Kind = ControlAnswer::Kind;

constexpr const char* each_instance =
    "; this is an order to this process only, and is forgotten when it ends: ask every instance of the group";

std::optional<ControlAnswer> refuse_give_up(const SharedStages& stages, const config::Config& config,
                                            const ControlRequest& request) {
  std::vector<std::string> names;
  std::size_t place = 0;
  for (; place < stages.size() && stages.name(place) != request.pool; ++place)
    names.push_back(stages.name(place));
  if (place == stages.size())
    return ControlAnswer{Kind::not_found, "this service has no pool '" + request.pool + "'; its pools are " +
                                              config::listed(std::move(names), 50)};
  if (!config::has_neighbours(config, config::stages_of(config)[place]))
    return ControlAnswer{Kind::invalid, "no record is parked for the pool " + request.pool +
                                            ": all other pools lead to this pool, or follow it"};
  if (request.subscriber && stages.subscribers(place) == nullptr)
    return ControlAnswer{Kind::invalid, "the pool " + request.pool + " has no subscribers: pools." +
                                            request.pool + ".each is not configured"};
  if (!config.dead_letter.enabled())
    return ControlAnswer{Kind::refused, "the parked records of " + request.target() +
                                            " cannot be given up: dead_letter is not configured, and no "
                                            "record is dropped"};
  return std::nullopt;
}

std::optional<ControlAnswer> refuse(const SharedStages* stages, const config::Config& config,
                                    const ControlRequest& request) {
  if (stages == nullptr) return ControlAnswer{Kind::refused, "the service has not started yet"};
  if (const auto why = config::not_parked_because(config); !why.empty())
    return ControlAnswer{Kind::invalid, "this service parks no records: " + why};
  if (!stages->parked_orders().followed())
    return ControlAnswer{Kind::refused,
                         "this service reads no retry topics, because the brokers refused them at its start "
                         "(see its log): make them possible, and start the service again"};
  return request.action == Action::give_up ? refuse_give_up(*stages, config, request) : std::nullopt;
}

std::uint64_t counted_of(const SharedStages& stages, const ControlRequest& request, TimePoint now) {
  std::uint64_t records = 0;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (request.action == Action::give_up && stages.name(i) != request.pool) continue;
    for (const auto& [subscriber, count] : stages.parked_records().of_pool(stages.name(i), now))
      if (!request.subscriber || *request.subscriber == subscriber) records += count.records;
  }
  return records;
}

std::string answer_text(const ControlRequest& request, std::uint64_t records) {
  const auto known = " (" + config::counted(records, "record") + " by the count of this process)";
  if (request.action == Action::send_on)
    return "every record that was parked before now comes back at once" + known +
           "; what its pool or subscriber still does not take is parked again" + each_instance;
  return "every record of " + request.target() + " that was parked before now comes back at once" + known +
         ", and goes to the dead-letter topic; the parked records of others come back at once too, and what "
         "is still not taken is parked again" +
         each_instance;
}

}  // namespace

ControlAnswer order_parked(const Loops& loops, const SharedStages* stages, const config::Config& config,
                           const ControlRequest& request) {
  if (auto refused = refuse(stages, config, request)) return *refused;
  const auto now = SteadyClock::now();
  const auto records = counted_of(*stages, request, now);
  if (!stages->parked_orders().give(
          {.pool = request.pool, .subscriber = request.subscriber, .reason = request.reason, .given = now}))
    return {Kind::refused,
            "too many orders about parked records stand (" + std::to_string(lane::ParkedOrders::most) +
                "): an order ends when no record that it concerns has come back for as long as "
                "the longest delay of the retry topics"};
  stages->parked_records().all_due();
  for (const auto& loop : loops)
    (void)loop->post([](lane::Lane& lane, TimePoint at) { lane.follow_parked_orders(at); });
  telemetry::warn(
      request.action == Action::send_on ? "parked records are sent on" : "parked records are given up",
      {{"pool", request.pool},
       {"subscriber", request.subscriber.value_or("")},
       {"reason", request.reason},
       {"records", records}});
  return {Kind::accepted, answer_text(request, records)};
}

std::vector<std::string> parked_orders_in_words(const SharedStages& stages, std::int64_t now_ms) {
  std::vector<std::string> lines;
  const auto now = SteadyClock::now();
  for (const auto& order : stages.parked_orders().standing(now)) {
    const auto given = now_ms - duration_cast<milliseconds>(now - order.given).count();
    const auto before = " that were parked before " + utc_clock(given, now_ms);
    if (!order.gives_up()) {
      lines.push_back("records" + before + " come back at once");
      continue;
    }
    const ControlRequest about{
        .action = Action::give_up, .topic = "", .pool = order.pool, .subscriber = order.subscriber};
    lines.push_back("records of " + about.target() + before + " are given up (" +
                    std::to_string(order.given_up) + " so far): " + order.reason);
  }
  return lines;
}

}  // namespace laneway::service
