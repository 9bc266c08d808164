#include "service/downstream_status.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/utc_time.h"
#include "config/text.h"

namespace laneway::service {

namespace {

constexpr const char* too_many_rejected =
    "rejects far more records than it accepts, so no rejected record is given up: rejected records are tried "
    "again until records succeed (dead_letter.max_rate)";

std::string failures_in_words(const DownstreamStatus& downstream) {
  const auto& calls = downstream.calls;
  if (calls.failed == 0) return {};
  const bool all_of_it = downstream.out && *downstream.out < delivery::CallTally::length;
  return words_of(calls) + ", of " + config::counted(calls.calls, "call") +
         (all_of_it ? " since the outage began" : " in the last minute");
}

void leave_out(std::string& text, const std::string& part) {
  if (const auto at = text.find(part); at != std::string::npos) text.erase(at, part.size());
}

/// The last failure without the downstream's address, which the sentence has already.
std::string without_address(const DownstreamStatus& downstream) {
  std::string text = downstream.last_failure;
  for (const auto* before : {" from ", " to "}) leave_out(text, before + downstream.name);
  const auto colon = downstream.name.rfind(':');
  if (colon == std::string::npos) return text;
  // libcurl: "Failed to connect to HOST port PORT after 0 ms: Couldn't connect to server"
  const auto failed = "Failed to connect to " + downstream.name.substr(0, colon) + " port " +
                      downstream.name.substr(colon + 1);
  const auto begin = text.find(failed);
  const auto end = begin == std::string::npos ? begin : text.find(": ", begin + failed.size());
  return end == std::string::npos ? text : text.erase(begin, end + 2 - begin);
}

std::string pace_in_words(double pace) {
  if (pace <= 0) return {};
  const auto records = std::max(1L, std::lround(pace));
  return "has asked for fewer calls: about " + std::to_string(records) +
         (records == 1 ? " record a second begins" : " records a second begin");
}

}  // namespace

DownstreamStatus status_of(const WatchedDownstream& watched) {
  const auto now = SteadyClock::now();
  auto report = watched.downstream->report(now);
  DownstreamStatus status{.name = watched.downstream->name(),
                          .pool = watched.pool,
                          .state = watched.has_breaker ? report.state : delivery::BreakerState::off,
                          .last_failure = std::move(report.last_failure),
                          .has_worked = report.has_worked,
                          .keeps_rejected = report.keeps_rejected,
                          .calls = std::move(report.calls),
                          .pace = watched.rate->pace(now)};
  if (watched.adaptive != nullptr) status.limit = watched.adaptive->report();
  if (report.out_since) status.out = now - *report.out_since;
  return status;
}

void leave_out_outage(DownstreamStatus& downstream) {
  if (downstream.state != delivery::BreakerState::off) downstream.state = delivery::BreakerState::closed;
  downstream.out.reset();
}

std::string calls_in_words(const DownstreamStatus& downstream) {
  const std::string rejected = downstream.keeps_rejected ? too_many_rejected : "";
  std::string text;
  const double pace = downstream.out ? 0 : downstream.pace;  // hardly any record begins in an outage
  for (const auto& part : {failures_in_words(downstream), pace_in_words(pace), rejected})
    if (!part.empty()) text += (text.empty() ? "" : "; it ") + part;
  return text;
}

std::string limit_in_words(const DownstreamStatus& downstream, TimePoint now, std::int64_t now_ms) {
  const auto& limit = *downstream.limit;
  std::string text = config::counted(limit.limit, "call") + " at once, between " + std::to_string(limit.min) +
                     " and " + std::to_string(limit.max);
  if (!limit.moved) return text;
  const auto moved_ms = now_ms - duration_cast<milliseconds>(now - *limit.moved).count();
  return text + "; " + (limit.to < limit.from ? "lowered" : "raised") + " from " +
         std::to_string(limit.from) + " to " + std::to_string(limit.to) + " at " +
         utc_clock(moved_ms, now_ms) + ": " + limit.why;
}

std::optional<std::int64_t> out_since_ms(const DownstreamStatus& downstream, std::int64_t now_ms) {
  if (!downstream.out) return std::nullopt;
  return now_ms - duration_cast<milliseconds>(*downstream.out).count();
}

std::string outage_in_words(const DownstreamStatus& downstream, std::int64_t now_ms) {
  auto how = calls_in_words(downstream);
  if (how.empty()) how = "failed the last call";
  const bool of_pool = !downstream.pool.empty();
  std::string text = "the downstream " + downstream.name +
                     (of_pool ? " of the pool " + downstream.pool : std::string()) + ' ' + how +
                     (of_pool ? "; its records have waited" : "; the lanes have been held");
  if (const auto since = out_since_ms(downstream, now_ms)) text += " since " + utc_clock(*since, now_ms);
  if (downstream.state == delivery::Breaker::State::half_open) text += "; a few calls probe the downstream";
  text += "; no record is given up meanwhile";
  if (!downstream.has_worked)
    text +=
        "; no call has succeeded since the start: if the records are the cause, `laneway skip` gives up a "
        "record";
  if (!downstream.last_failure.empty()) text += "; last failure: " + without_address(downstream);
  return text;
}

}  // namespace laneway::service
