#include "admin/json/status_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/utc_time.h"

namespace laneway::admin {
namespace {

using Json = nlohmann::ordered_json;

/// People and dashboards need no more digits.
double rounded(double value) { return std::round(value * 1000) / 1000; }
double rounded(Duration value) { return rounded(to_seconds(value)); }

Json json_of(const service::Readiness& readiness) {
  Json reasons = Json::array();
  for (const auto& reason : readiness.reasons) {
    Json one{{"code", service::name_of(reason.code)}};
    if (!reason.topic.empty()) {
      one["topic"] = reason.topic;
      one["partition"] = reason.partition;
    }
    one["text"] = reason.text;
    reasons.push_back(std::move(one));
  }
  Json json{{"ready", readiness.ready()}, {"reasons", std::move(reasons)}};
  if (!readiness.suspended.empty()) json["suspended"] = readiness.suspended;
  return json;
}

/// `attempts`: the number of the running attempt, else of the last one. `error`: of `failed_attempt`. Null if
/// all records are finished. Without the lane's own answer, only the age is known.
Json oldest_of(const service::LaneFacts& lane) {
  if (const auto& oldest = lane.detail.oldest) {
    Json json{{"offset", oldest->offset},
              {"age_seconds", rounded(oldest->age)},
              {"place", name_of(oldest->phase)},
              {"attempts", oldest->attempt}};
    if (!oldest->error.empty()) {
      json["failed_attempt"] = oldest->failed_attempt;
      json["error"] = oldest->error;
    }
    return json;
  }
  if (lane.view.oldest_age == Duration::zero()) return nullptr;
  return {{"age_seconds", rounded(lane.view.oldest_age)}};
}

/// `record`: in the notation that `laneway skip` accepts. `over`: the lane has gone on since.
Json last_error_of(const service::LaneFacts& lane) {
  const auto& last = lane.detail.last_error;
  if (!last) return nullptr;
  return {{"record",
           lane.view.topic + ':' + std::to_string(lane.view.partition) + ':' + std::to_string(last->offset)},
          {"attempt", last->attempt},
          {"time", utc_time(last->at_ms)},
          {"error", last->error},
          {"over", lane.error_is_over}};
}

Json json_of(const std::vector<lane::HeldBy>& held) {
  Json reasons = Json::array();
  for (const auto& [code, cause, words] : held)
    reasons.push_back({{"code", code}, {"cause", name_of(cause)}, {"text", words}});
  return reasons;
}

/// The pools that are out and for which records of the lane wait.
Json json_of(const std::vector<service::PoolOut>& pools) {
  Json json = Json::array();
  for (const auto& pool : pools)
    json.push_back({{"pool", pool.pool}, {"waiting", pool.waiting}, {"text", pool.text}});
  return json;
}

/// `queued`: in the queues of its pools, whose sizes are `queue_capacity` together. `waiting_for_pools`: what
/// these cannot take.
Json json_of(const service::LaneFacts& lane, const std::vector<service::PoolStatus>& pools) {
  const auto& view = lane.view;
  std::uint64_t waiting_for_pools = 0;
  for (const auto& pool : view.pools) waiting_for_pools += pool.waiting;
  Json json{{"topic", view.topic},
            {"partition", view.partition},
            {"state", view.state_in_words()},
            {"suspended", view.suspended()},
            {"held_by", lane.detail.held_by},
            {"hold_reasons", json_of(lane.detail.hold_reasons)},
            {"lag", view.lag < 0 ? Json() : Json(view.lag)},
            {"finished_beyond_commit", view.finished_beyond},
            {"commits_blocked", view.commits_blocked()},
            {"in_flight", view.in_flight},
            {"workers", view.workers},
            {"queued", view.queued - waiting_for_pools},
            {"queue_capacity", view.queue_capacity},
            {"waiting_retries", view.waiting_retries},
            {"stuck", view.stuck},
            {"oldest", oldest_of(lane)},
            {"committed", view.committed < 0 ? Json() : Json(view.committed)},
            {"delivered", view.delivered < 0 ? Json() : Json(view.delivered)},
            {"finished", view.finished},
            {"finished_bytes", view.processed_bytes},
            {"work_seconds", rounded(view.work)},
            {"rate", rounded(lane.rate)},
            {"dead_letters", view.dead_letters},
            {"dead_letter_rate", rounded(lane.dead_letter_rate)},
            {"last_error", last_error_of(lane)},
            {"holds", view.holds},
            {"pauses", view.pauses},
            {"member", view.member + 1}};
  if (!pools.empty()) {
    json["waiting_for_pools"] = waiting_for_pools;
    json["pools_out"] = json_of(pools_out(view, pools));
  }
  if (view.suspended())
    json["suspended_since"] = lane.detail.suspended_ms ? Json(utc_time(*lane.detail.suspended_ms)) : Json();
  if (view.silent > Duration::zero()) json["silent_seconds"] = rounded(view.silent);
  if (lane.detail.open_transaction >= 0) json["open_transaction"] = lane.detail.open_transaction;
  if (!lane.detail.source_error.empty()) json["source_error"] = lane.detail.source_error;
  return json;
}

/// `why` the limit moved last, from which value to which; empty if it has not moved. `words`: all of it.
Json limit_of(const service::DownstreamStatus& downstream) {
  const auto& limit = *downstream.limit;
  const auto now = SteadyClock::now();
  return {{"limit", limit.limit},
          {"min", limit.min},
          {"max", limit.max},
          {"in_flight", limit.in_flight},
          {"why", limit.why},
          {"from", limit.moved ? Json(limit.from) : Json()},
          {"to", limit.moved ? Json(limit.to) : Json()},
          {"moved_seconds_ago", limit.moved ? Json(rounded(now - *limit.moved)) : Json()},
          {"words", limit_in_words(downstream, now, wall_clock_ms())}};
}

/// `reason`: of the last failure, during an outage. `pace`: records per second, if the downstream has asked
/// for fewer calls. `failures`: in words; empty if no call failed.
Json json_of(const service::DownstreamStatus& downstream) {
  const auto since = out_since_ms(downstream, wall_clock_ms());
  Json kinds = Json::array();
  for (const auto& kind : downstream.calls.kinds)
    kinds.push_back({{"kind", kind.name}, {"calls", kind.calls}});
  Json json{{"downstream", downstream.name},
            {"state", name_of(downstream.state)},
            {"reason", since ? downstream.last_failure : ""},
            {"since", since ? Json(utc_time(*since)) : Json()},
            {"calls", downstream.calls.calls},
            {"failed_calls", downstream.calls.failed},
            {"failed_by_kind", std::move(kinds)},
            {"pace", downstream.pace > 0 ? Json(rounded(downstream.pace)) : Json()},
            {"failures", calls_in_words(downstream)}};
  if (downstream.limit) json["limit"] = limit_of(downstream);
  return json;
}

/// `worst`: those that are out, then those at their limits or with parked records, most records first.
Json json_of(const service::Subscribers& subscribers) {
  Json worst = Json::array();
  for (const auto& one : subscribers.worst)
    worst.push_back({{"name", one.name},
                     {"state", name_of(one.state)},
                     {"running", one.running},
                     {"most", one.most},
                     {"waiting", one.waiting},
                     {"parked", one.parked.records},
                     {"parked_oldest_seconds", rounded(one.parked.oldest)},
                     {"text", one.text}});
  return {{"known", subscribers.known},
          {"out", subscribers.out},
          {"at_limit", subscribers.at_limit},
          {"with_parked", subscribers.with_parked},
          {"worst", std::move(worst)}};
}

/// `waiting`: in the lanes, outside the pool. `waiting_retries`: in the lanes, for their next attempt.
/// `retries`: in the pool for retries. `breaker`: as above. `trouble`: in words; empty if there is none.
Json json_of(const service::PoolStatus& pool) {
  Json json{{"name", pool.name},
            {"then", pool.then},
            {"helped_by", pool.helped_by},
            {"running", pool.running},
            {"workers", pool.slots},
            {"total", pool.total},
            {"queued", pool.queued},
            {"queue_capacity", pool.queue_capacity},
            {"waiting", pool.waiting},
            {"waiting_retries", pool.waiting_attempts},
            {"retries", pool.retries},
            {"borrowed", pool.borrowed},
            {"stuck", pool.stuck},
            {"oldest_seconds", rounded(pool.oldest)},
            {"parked", pool.parked.records},
            {"parked_oldest_seconds", rounded(pool.parked.oldest)},
            {"rate", rounded(pool.rate)},
            {"trouble", trouble_in_words(pool, wall_clock_ms())},
            {"breaker", pool.downstream ? json_of(*pool.downstream) : Json()}};
  if (pool.subscribers) json["subscribers"] = json_of(*pool.subscribers);
  return json;
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace

std::string readiness_json(const service::Readiness& readiness) { return text_of(json_of(readiness)); }

std::string status_json(const service::ServiceStatus& status, const std::string& version) {
  Json json{{"version", version},
            {"group", status.group},
            {"uptime_seconds", rounded(status.uptime)},
            {"members", status.members}};
  json.update(json_of(status.readiness));
  json["breaker"] = status.downstream ? json_of(*status.downstream) : Json();
  const auto& totals = status.totals;
  json["rebalances"] = {{"assigned", totals.assigned}, {"revoked", totals.revoked}, {"lost", totals.lost}};
  json["commits"] = {{"succeeded", totals.commits}, {"failed", totals.commits_failed}};
  json["dead_letters"] = totals.dead_letters;
  json["settings"] = {{"workers", status.workers},
                      {"queue", status.queue},
                      {"memory_bytes", status.settings.memory},
                      {"drain_seconds", rounded(status.settings.drain)}};
  json["processors"] = {{"count", status.cores}, {"seconds", rounded(status.processor)}};
  json["advice"] = status.advice;
  json["lanes"] = Json::array();
  for (const auto& lane : status.lanes) json["lanes"].push_back(json_of(lane, status.pools));
  for (const auto& pool : status.pools) json["pools"].push_back(json_of(pool));
  if (!status.pools.empty()) json["parked_orders"] = status.parked_orders;
  return text_of(json);
}

std::string history_json(const service::TimelineNews& news) {
  Json json{{"started", news.started_ms},
            {"now", news.now_ms},
            {"complete", news.complete},
            {"last", news.last},
            {"columns", {"number", "at_ms", "rate", "lag", "ready", "breaker", "dead_letters", "rebalances"}},
            {"samples", Json::array()},
            {"events", Json::array()}};
  for (const auto& sample : news.samples)
    json["samples"].push_back({sample.number, sample.at_ms, std::round(sample.rate * 10.0) / 10.0, sample.lag,
                               sample.ready, name_of(sample.breaker), sample.dead_letters,
                               sample.rebalances});
  for (const auto& event : news.events)
    json["events"].push_back(
        {{"id", event.id},
         {"at_ms", event.at_ms},
         {"since_ms", event.since_ms},
         {"level", service::TimelineEvent::level_names[static_cast<std::size_t>(event.level)]},
         {"text", event.text}});
  return text_of(json);
}

}  // namespace laneway::admin
