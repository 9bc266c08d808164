#include "app/control/lane_row.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "app/cli/terminal.h"
#include "config/text.h"
#include "delivery/failure/breaker_state.h"
#include "lane/state/hold_reasons.h"

namespace laneway::control {
namespace {

using Json = nlohmann::json;

using cli::right;
using config::counted;

constexpr double long_blocked = 60;  // seconds

/// At most `width` characters: "1234", "123k", "45M".
std::string number(std::int64_t value, std::size_t width) {
  if (value < 0) return "-";
  constexpr std::array units{"", "k", "M", "G", "T", "P", "E"};
  for (const auto* unit : units) {
    if (auto text = std::to_string(value) + unit; text.size() <= width) return text;
    value /= 1000;
  }
  return "?";
}

std::string column(std::int64_t value, std::size_t width) { return right(number(value, width), width) + ' '; }

std::string column(const Json& object, const char* field, std::size_t width) {
  return column(number_of(object, field), width);
}

/// Of fields that a service without named pools, or of another version, may not have.
std::string sum_column(const Json& object, std::initializer_list<const char*> fields, std::size_t width) {
  std::int64_t sum = 0;
  for (const auto* field : fields) sum += std::max<std::int64_t>(number_of(object, field), 0);
  return column(sum, width);
}

/// Of the field, which a service of another version may not have.
std::string rate(const Json& lane, const char* field, std::size_t width) {
  const auto value = lane.value(field, 0.0);
  std::array<char, 32> text{};
  const auto length = std::snprintf(text.data(), text.size(), "%.1f", value);
  const bool fits = length > 0 && static_cast<std::size_t>(length) <= width;
  return right(fits ? text.data() : number(static_cast<std::int64_t>(value), width), width);
}

/// The last error of the lane is of this record, so the line about the last error is enough.
bool is_last_error(const Json& lane, std::int64_t offset) {
  const auto last = lane.value("last_error", Json());
  return last.is_object() && last.value("record", "").ends_with(':' + std::to_string(offset));
}

/// "orders:3:17 (attempt 4)": the attempt that failed.
std::string record_text(const Json& oldest, const std::string& lane) {
  const auto attempt = number_of(oldest, "failed_attempt");
  return lane + ':' + std::to_string(number_of(oldest, "offset")) +
         (attempt > 0 ? " (attempt " + std::to_string(attempt) + ')' : "");
}

double silent_seconds(const Json& lane) { return lane.value("silent_seconds", 0.0); }

bool is_breaker(const Json& reason) {
  return reason.value("code", "") == lane::row_of(lane::Hold::breaker_open).code;
}

/// The reason of an outage stands above the table, and is not repeated for each lane.
struct Outage {
  bool now = false;
  std::set<std::string> reasons;  // of each downstream that is out

  bool has(const Json& lane, const std::string& error) const {
    const auto held = lane.value("hold_reasons", Json::array());
    return now && (reasons.contains(error) || std::any_of(held.begin(), held.end(), is_breaker));
  }
  void add(const Json& breaker) {
    if (!breaker.is_object() || breaker.value("since", Json()).is_null()) return;
    now = true;
    reasons.insert(breaker.value("reason", ""));
  }
};

Outage outage_of(const Json& status) {
  Outage outage;
  outage.add(status.at("breaker"));
  for (const auto& pool : status.value("pools", Json::array())) outage.add(pool.value("breaker", Json()));
  return outage;
}

/// "the pool acme is out: 12 records of this lane wait"
std::string pools_text(const Json& lane) {
  std::vector<std::string> texts;
  for (const auto& pool : lane.value("pools_out", Json::array())) texts.push_back(pool.value("text", ""));
  return config::join(texts, "; ");
}

/// Without the command of an operator, which is the lane's state and no hold of its own.
std::string held_text(const Json& lane, const Outage& outage) {
  std::string text;
  for (const auto& reason : lane.value("hold_reasons", Json::array()))
    if (reason.value("cause", "") != name_of(lane::HoldCause::by_operator) &&
        !(outage.now && is_breaker(reason)))
      text += (text.empty() ? "held: " : ", ") + reason.value("text", "");
  return text;
}

/// The oldest record, if its error stands nowhere else or the record blocks the commits.
std::string oldest_text(const Json& lane, const std::string& name, const Outage& outage) {
  const auto& oldest = lane.at("oldest");
  if (oldest.is_null() || !oldest.contains("offset")) return "";
  const auto error = oldest.value("error", "");
  if (outage.has(lane, error)) return "";
  auto text = record_text(oldest, name);
  const bool blocks = lane.value("commits_blocked", false);
  if (blocks) text += " blocks the commits";
  if (!error.empty() && !is_last_error(lane, number_of(oldest, "offset"))) return text + ": " + error;
  return blocks ? text : "";
}

std::string suspended_text(const Json& lane) {
  if (!lane.value("suspended", false) || !lane.contains("suspended_since")) return "";  // of an older version
  const auto& since = lane.at("suspended_since");
  return since.is_string() ? "suspended by an operator since " + since.get<std::string>()
                           : "suspended by an operator, in this process only";
}

std::string detail_of(const Json& lane, const std::string& name, const Outage& outage) {
  std::vector<std::string> parts;
  for (auto part :
       {suspended_text(lane), held_text(lane, outage), pools_text(lane), oldest_text(lane, name, outage)})
    if (!part.empty()) parts.push_back(std::move(part));
  if (const auto silent = silent_seconds(lane); silent > 0)
    parts.push_back("silent for " + cli::age_text(static_cast<std::int64_t>(silent * 1000)) +
                    ": its log has more records, and none are delivered");
  if (const auto offset = number_of(lane, "open_transaction"); offset >= 0)
    parts.push_back("waits at offset " + std::to_string(offset) +
                    " for an open transaction of another producer");
  if (const auto error = lane.value("source_error", ""); !error.empty())
    parts.push_back("cannot be read: " + error);
  return parts.empty() ? "" : name + ' ' + config::join(parts, "; ");
}

/// An error that is over stands beside dead letters only, whose reason it may be: it is no trouble any more.
/// "orders:3 12 dead letters; last error at 2026-01-02T14:02:11.007Z, orders:3:17 (attempt 8): HTTP 500"
std::string failures_of(const Json& lane, const std::string& name, const Outage& outage) {
  std::string text;
  if (const auto letters = lane.value("dead_letters", std::uint64_t{0}); letters > 0)
    text = counted(letters, "dead letter");
  const auto last = lane.value("last_error", Json());
  const bool history = last.is_object() && last.value("over", false) && text.empty();
  if (last.is_object() && !history && !outage.has(lane, last.value("error", "")))
    text += (text.empty() ? "last error at " : "; last error at ") + last.value("time", "") + ", " +
            last.value("record", "") + " (attempt " + std::to_string(number_of(last, "attempt")) +
            "): " + last.value("error", "");
  return text.empty() ? text : name + ' ' + text;
}

std::string state_of(const Json& lane) {
  const auto state = lane.at("state").get<std::string>();
  if (number_of(lane, "stuck") > 0) return "stuck";
  if (lane.value("suspended", false) && state != "draining") return "suspended";
  if (silent_seconds(lane) > 0 && state == "running") return "silent";
  const bool works = state == "running" || state == "held" || state == "paused";
  return works && lane.value("commits_blocked", false) ? "blocked" : state;
}

Trouble trouble_of(const Json& lane, const Row& row, const std::set<Partition>& not_ready) {
  if (row.state == "stuck") return Trouble::stuck;
  if (row.state == "silent") return Trouble::silent;
  if (not_ready.contains(row.partition)) return Trouble::not_ready;
  if (row.state == "suspended") return Trouble::suspended;
  const auto& oldest = lane.at("oldest");
  const bool failed = !oldest.is_null() && oldest.contains("error");
  if (row.state == "blocked") return Trouble::blocked;
  if (failed && oldest.value("age_seconds", 0.0) >= long_blocked) return Trouble::blocked;
  return lane.value("pools_out", Json::array()).empty() ? Trouble::none : Trouble::pool_out;
}

std::string age_of(const Json& oldest) {
  if (oldest.is_null()) return "-";
  return cli::age_text(static_cast<std::int64_t>(oldest.value("age_seconds", 0.0) * 1000));
}

Row row_of(const Json& lane, const std::set<Partition>& not_ready, const Outage& outage) {
  Row row;
  row.partition = {lane.at("topic").get<std::string>(), number_of(lane, "partition")};
  row.name = row.partition.first + ':' + std::to_string(row.partition.second);
  row.state = state_of(lane);
  row.trouble = trouble_of(lane, row, not_ready);
  row.lag = number_of(lane, "lag");
  row.numbers = column(lane, "lag", 5) + column(lane, "in_flight", 7) + column(lane, "queued", 6) +
                sum_column(lane, {"waiting_retries", "waiting_for_pools"}, 7) +
                right(age_of(lane.at("oldest")), 6) + ' ' + column(lane, "finished_beyond_commit", 6) +
                rate(lane, "rate", 5) + ' ' + rate(lane, "dead_letter_rate", 6);
  row.detail = detail_of(lane, row.name, outage);
  row.failures = failures_of(lane, row.name, outage);
  return row;
}

/// "send: acme (open, 1 running, 12 waiting, 340 parked): out since 14:02:11Z"
std::string subscriber_text(const Json& one, const std::string& pool) {
  const auto* state = delivery::find_breaker_state(one.value("state", ""));
  return pool + ": " + one.value("name", "") + " (" +
         (state == nullptr ? "" : std::string(state->words) + ", ") +
         std::to_string(number_of(one, "running")) + " running, " +
         std::to_string(number_of(one, "waiting")) + " waiting" +
         (number_of(one, "parked") > 0 ? ", " + std::to_string(number_of(one, "parked")) + " parked" : "") +
         "): " + one.value("text", "");
}

PoolRow pool_row(const Json& pool) {
  PoolRow row;
  row.name = pool.at("name").get<std::string>();
  if (const auto breaker = pool.value("breaker", Json()); breaker.is_object())
    row.state = breaker.value("state", "");
  const auto running = number(number_of(pool, "running"), 5) + '/' + number(number_of(pool, "workers"), 5);
  const auto oldest = static_cast<std::int64_t>(pool.value("oldest_seconds", 0.0) * 1000);
  row.numbers = right(running, 11) + ' ' + column(pool, "queued", 6) +
                sum_column(pool, {"waiting", "waiting_retries"}, 7) + column(pool, "retries", 7) +
                right(cli::age_text(oldest), 6) + ' ' + rate(pool, "rate", 5) + ' ';
  const auto subscribers = pool.value("subscribers", Json());
  row.numbers += right(subscribers.is_object() ? number(number_of(subscribers, "out"), 3) + '/' +
                                                     number(number_of(subscribers, "known"), 3)
                                               : "-",
                       7);
  const auto* breaker = delivery::find_breaker_state(row.state);
  row.out = breaker != nullptr && breaker->number > 0;
  row.trouble = pool.value("trouble", "");
  if (subscribers.is_object())
    for (const auto& one : subscribers.value("worst", Json::array()))
      row.subscribers.push_back(subscriber_text(one, row.name));
  return row;
}

}  // namespace

std::vector<PoolRow> pool_rows(const Json& status) {
  std::vector<PoolRow> rows;
  for (const auto& pool : status.value("pools", Json::array())) rows.push_back(pool_row(pool));
  std::stable_partition(rows.begin(), rows.end(), [](const PoolRow& row) { return !row.trouble.empty(); });
  std::stable_partition(rows.begin(), rows.end(), [](const PoolRow& row) { return row.out; });
  return rows;
}

std::int64_t number_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? -1 : found->get<std::int64_t>();
}

std::vector<Row> sorted_rows(const Json& status) {
  std::set<Partition> not_ready;
  for (const auto& reason : status.at("reasons"))
    if (reason.contains("topic"))
      not_ready.emplace(reason.at("topic").get<std::string>(), number_of(reason, "partition"));
  std::vector<Row> rows;
  const auto outage = outage_of(status);
  for (const auto& lane : status.at("lanes")) rows.push_back(row_of(lane, not_ready, outage));
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::tie(b.trouble, a.partition) < std::tie(a.trouble, b.partition);
  });
  return rows;
}

}  // namespace laneway::control
