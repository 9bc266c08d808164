#include "app/control/table.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "app/cli/terminal.h"
#include "app/control/lane_row.h"
#include "base/outside_json.h"
#include "config/text.h"
#include "delivery/dead_letter/dead_letter.h"
#include "delivery/failure/breaker_state.h"

namespace laneway::control {
namespace {

using Json = nlohmann::json;
using cli::cell;
using config::counted;

constexpr std::size_t least_lane_width = 14;
constexpr std::size_t other_columns = 66;  // the width of the table beside the lane
constexpr std::size_t most_details = 6;
constexpr std::size_t most_failures = 3;
constexpr std::size_t most_pool_troubles = 3;
constexpr std::size_t most_subscribers = 4;
constexpr std::size_t most_orders = 3;
constexpr std::size_t most_advice = 3;
constexpr std::size_t most_lines = 6;       // of one reason
constexpr std::size_t most_lane_lines = 2;  // about one lane, below the table
constexpr std::size_t most_pools = 8;
constexpr std::size_t fewest_rows = 4;  // of the table, where a terminal is too short for all

/// As wide as the longest name, as far as the terminal has room.
std::size_t lane_width_of(const std::vector<Row>& rows, const TableStyle& style) {
  std::size_t longest = least_lane_width;
  for (const auto& row : rows) longest = std::max(longest, row.name.size());
  if (style.columns == 0) return longest;
  return std::min(longest, std::max(style.columns, least_lane_width + other_columns) - other_columns);
}

const char* colour(const Row& row) {
  if (row.trouble >= Trouble::not_ready) return "\033[31m";  // red
  const bool waits = row.state == "held" || row.state == "paused";
  if (row.trouble != Trouble::none || waits) return "\033[33m";  // yellow
  return row.state == "running" ? "\033[32m" : "\033[2m";        // green, faint
}

std::string coloured(const std::string& text, const char* with, const TableStyle& style) {
  return style.colours ? with + text + "\033[0m" : text;
}

/// One line, cut to the width of the terminal.
std::string line(const std::string& text, const TableStyle& style) {
  return cli::ended(style.columns == 0 ? text : cell(text, style.columns));
}

/// Some lines of words, of which the last one is cut; outside a terminal, one whole line.
std::string wrapped(const std::string& text, const TableStyle& style, std::size_t most = most_lines) {
  const auto width = style.columns == 0 ? std::string::npos : style.columns;
  std::string out;
  for (const auto& words :
       config::words_in_lines(delivery::clean_text(text, cli::most_text), width, 2, 0, most))
    out += line((out.empty() ? "" : "  ") + words, style);
  return out;
}

/// Some of the lines, and how many more there are; outside a terminal, all.
void cut(std::vector<std::string>& lines, std::size_t most, const char* what, const TableStyle& style) {
  if (style.columns == 0 || lines.size() <= most) return;
  const auto more = lines.size() - most;
  lines.resize(most);
  lines.push_back("and " + std::to_string(more) + " more " + what + " (--json)\n");
}

/// How calls fail, while most of them work. In an outage, a reason of the readiness has it; of named pools,
/// the lines below the table.
std::string downstream_of(const Json& status, const TableStyle& style) {
  const auto& breaker = status.at("breaker");
  if (status.contains("pools") || !breaker.is_object() || !breaker.value("since", Json()).is_null())
    return "";
  const auto failures = breaker.value("failures", "");
  return failures.empty()
             ? ""
             : wrapped("the downstream " + breaker.value("downstream", "") + ' ' + failures, style);
}

/// How many calls the downstream gets at once, and why that last moved; of each pool, if pools are named.
std::vector<std::string> limits_of(const Json& status, const TableStyle& style) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& begin, const Json& breaker) {
    const auto limit = breaker.is_object() ? breaker.value("limit", Json()) : Json();
    const auto words = limit.is_object() ? limit.value("words", "") : "";
    if (!words.empty()) lines.push_back(wrapped(begin + " gets " + words, style));
  };
  const auto pools = status.value("pools", Json::array());
  const auto breaker = status.at("breaker");
  if (pools.empty() && breaker.is_object()) add("the downstream " + breaker.value("downstream", ""), breaker);
  for (const auto& pool : pools)
    add("the pool " + pool.at("name").get<std::string>(), pool.value("breaker", Json()));
  cut(lines, most_pools, "limits", style);
  return lines;
}

std::vector<std::string> heading(const Json& status, std::size_t lane_width, const TableStyle& style) {
  std::vector<std::string> lines;
  const bool ready = status.at("ready").get<bool>();
  lines.push_back(
      wrapped("laneway " + status.at("version").get<std::string>() + ", group " +
                  status.at("group").get<std::string>() + ", up " +
                  cli::age_text(static_cast<std::int64_t>(status.at("uptime_seconds").get<double>() * 1000)) +
                  ", " + counted(status.value("members", std::uint64_t{0}), "member") + ", " +
                  counted(status.at("lanes").size(), "lane") + (ready ? ", ready" : ""),
              style));
  for (const auto& reason : status.at("reasons"))
    lines.push_back(
        coloured(wrapped("NOT READY: " + reason.at("text").get<std::string>(), style), "\033[31m", style));
  if (auto words = downstream_of(status, style); !words.empty()) lines.push_back(std::move(words));
  if (lines.size() > 1 + most_details) cut(lines, most_details, "reasons", style);
  for (auto& limit : limits_of(status, style)) lines.push_back(std::move(limit));
  lines.emplace_back("\n");
  lines.push_back(cli::end_cell("lane", lane_width) +
                  " state       lag running queued waiting oldest beyond rec/s dead/s\n");
  return lines;
}

/// "and 31 lanes more, with a lag of 12": the rows that are not shown.
std::string rest_text(const std::vector<Row>& rows, std::size_t shown) {
  std::int64_t lag = 0;
  for (std::size_t i = shown; i < rows.size(); ++i) lag += std::max<std::int64_t>(rows[i].lag, 0);
  return "and " + counted(rows.size() - shown, "lane") + " more, with a lag of " + std::to_string(lag) + '\n';
}

/// Below the table. On a terminal, some of each kind; elsewhere, all.
struct Details {
  std::vector<std::string> parts;
  std::size_t left_out = 0;

  void add(const std::vector<std::string>& texts, std::size_t most, std::size_t lines_each,
           const TableStyle& style) {
    const auto shown = style.columns == 0 ? texts.size() : std::min(texts.size(), most);
    for (std::size_t i = 0; i < shown; ++i) parts.push_back(wrapped(texts[i], style, lines_each));
    left_out += texts.size() - shown;
  }
  std::string rest() const {
    return left_out == 0 ? "" : "and " + std::to_string(left_out) + " more (--json)\n";
  }
};

/// The troubles of the pools and of their subscribers, orders about parked records, the lanes' troubles and
/// failures, and the advice.
Details details_of(const Json& status, const std::vector<Row>& rows, const TableStyle& style) {
  std::vector<std::string> pools, subscribers, orders, troubles, failures, advice;
  for (auto& pool : pool_rows(status)) {
    if (!pool.trouble.empty()) pools.push_back("the pool " + pool.name + ": " + pool.trouble);
    std::move(pool.subscribers.begin(), pool.subscribers.end(), std::back_inserter(subscribers));
  }
  for (const auto& row : rows) {
    if (!row.detail.empty()) troubles.push_back(row.detail);
    if (!row.failures.empty()) failures.push_back(row.failures);
  }
  for (const auto& text : status.value("parked_orders", Json::array()))
    orders.push_back("order of an operator: " + text.get<std::string>());
  for (const auto& text : status.value("advice", Json::array()))
    advice.push_back("advice: " + text.get<std::string>());
  Details details;
  details.add(pools, most_pool_troubles, most_lane_lines, style);
  details.add(subscribers, most_subscribers, most_lane_lines, style);
  details.add(orders, most_orders, most_lane_lines, style);
  details.add(troubles, most_details, most_lane_lines, style);
  details.add(failures, most_failures, most_lane_lines, style);
  details.add(advice, most_advice, most_lines, style);
  return details;
}

std::size_t height(const std::vector<std::string>& parts) {
  std::size_t lines = 0;
  for (const auto& part : parts)
    lines += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
  return lines;
}

std::size_t height(const Details& details) { return height(details.parts) + (details.left_out > 0 ? 1 : 0); }

/// Above the lanes: without named pools, nothing.
std::vector<std::string> pools_of(const Json& status, std::size_t width, const TableStyle& style) {
  const auto rows = pool_rows(status);
  if (rows.empty()) return {};
  std::vector<std::string> lines{line(cli::end_cell("pool", width) + ' ' + pool_columns, style)};
  const auto shown = style.columns == 0 ? rows.size() : std::min(rows.size(), most_pools);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto* breaker = delivery::find_breaker_state(rows[i].state);
    const bool works = breaker != nullptr && breaker->number == 0;
    lines.push_back(cli::end_cell(rows[i].name, width) + ' ' +
                    coloured(cell(rows[i].state, 9), works ? "\033[32m" : "\033[31m", style) + ' ' +
                    line(rows[i].numbers, style));
  }
  if (shown < rows.size())
    lines.push_back("and " + counted(rows.size() - shown, "pool") + " more (--json)\n");
  lines.emplace_back("\n");
  return lines;
}

std::string render(const Json& status, const TableStyle& style) {
  const auto rows = sorted_rows(status);
  const auto lane_width = lane_width_of(rows, style);
  auto lines = heading(status, lane_width, style);
  const auto pools = pools_of(status, lane_width, style);
  lines.insert(lines.end() - 1, pools.begin(), pools.end());
  auto details = details_of(status, rows, style);
  const std::size_t besides = 3;  // the cursor, "and … more", the blank above the details
  const auto least = height(lines) + besides + std::min(rows.size(), fewest_rows);
  for (; style.rows > 0 && !details.parts.empty() && least + height(details) > style.rows; ++details.left_out)
    details.parts.pop_back();
  const bool none = height(details) == 0;
  const auto rest = height(lines) + height(details) + (none ? besides - 1 : besides);
  const std::size_t room = style.rows == 0 ? rows.size() : std::max<std::size_t>(style.rows, rest + 1) - rest;
  for (std::size_t i = 0; i < rows.size() && i < room; ++i)
    lines.push_back(cli::end_cell(rows[i].name, lane_width) + ' ' +
                    coloured(cell(rows[i].state, 9), colour(rows[i]), style) + ' ' + rows[i].numbers + '\n');
  if (room < rows.size()) lines.push_back(rest_text(rows, room));
  if (!none) lines.emplace_back("\n");
  std::string text;
  for (const auto& part : lines) text += part;
  for (const auto& part : details.parts) text += part;
  return text + details.rest();
}

/// No text of the service can control the terminal, wherever in the table it comes to stand.
void clean(Json& value) {
  if (value.is_string())
    value = delivery::clean_text(value.get_ref<const std::string&>(), cli::most_text);
  else if (value.is_structured())
    for (auto& part : value) clean(part);
}

}  // namespace

std::optional<std::string> render_status(const std::string& status, const TableStyle& style) {
  try {
    auto json = parse_outside_json(status);
    clean(json);
    return render(json, style);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace laneway::control
