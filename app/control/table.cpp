#include "app/control/table.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

#include "app/dlq/print.h"
#include "base/outside_json.h"
#include "delivery/dead_letter/dead_letter.h"

namespace laneway::control {
namespace {

using Json = nlohmann::json;
using dlq::cell;

constexpr std::size_t least_lane_width = 14;
constexpr std::size_t other_columns = 66;                // the width of the table beside the lane
constexpr std::size_t most_text = std::size_t{1} << 20;  // of a line that is not cut
constexpr std::size_t most_details = 6;
constexpr std::size_t most_failures = 3;
constexpr std::size_t most_advice = 3;
constexpr std::size_t most_lines = 6;       // of one reason
constexpr std::size_t most_lane_lines = 2;  // about one lane, below the table
constexpr std::size_t fewest_rows = 4;      // of the table, where a terminal is too short for all
constexpr double long_blocked = 60;         // seconds

/// Only what lasts: a lane must not change its place because its lag changes or its pool is full for a
/// moment.
enum class Trouble : std::uint8_t {
  none,
  suspended,
  blocked,    // the oldest record has failed, and has held back the commits for a long time
  not_ready,  // a reason of the readiness is about the lane
  silent,
  stuck,
};

using Partition = std::pair<std::string, std::int64_t>;

struct Row {
  Partition partition;
  std::string name;
  std::string state;
  Trouble trouble = Trouble::none;  // the more, the further up
  std::int64_t lag = -1;
  std::string numbers;
  std::string detail;
  std::string failures;
};

std::string right(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

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

/// Of the field, which a service of another version may not have.
std::string rate(const Json& lane, const char* field, std::size_t width) {
  const auto value = lane.value(field, 0.0);
  std::array<char, 32> text{};
  const auto length = std::snprintf(text.data(), text.size(), "%.1f", value);
  const bool fits = length > 0 && static_cast<std::size_t>(length) <= width;
  return right(fits ? text.data() : number(static_cast<std::int64_t>(value), width), width);
}

/// A number that may be null or missing.
std::int64_t get(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? -1 : found->get<std::int64_t>();
}

std::string count(std::int64_t number, const std::string& noun) {
  return std::to_string(number) + ' ' + noun + (number == 1 ? "" : "s");
}

/// As wide as the longest name, as far as the terminal has room.
std::size_t lane_width_of(const std::vector<Row>& rows, const TableStyle& style) {
  std::size_t longest = least_lane_width;
  for (const auto& row : rows) longest = std::max(longest, row.name.size());
  if (style.columns == 0) return longest;
  return std::min(longest, std::max(style.columns, least_lane_width + other_columns) - other_columns);
}

/// Where a long name is cut, its end stays: names of a group of topics differ there.
std::string lane_cell(const std::string& name, std::size_t width) {
  if (name.size() <= width) return name + std::string(width - name.size(), ' ');
  return "…" + name.substr(name.size() - width + 1);
}

/// The last error of the lane is of this record, so the line about the last error is enough.
bool is_last_error(const Json& lane, std::int64_t offset) {
  const auto last = lane.value("last_error", Json());
  return last.is_object() && last.value("record", "").ends_with(':' + std::to_string(offset));
}

/// "orders:3:17 (attempt 4)": the attempt that failed.
std::string record_text(const Json& oldest, const std::string& lane) {
  const auto attempt = get(oldest, "failed_attempt");
  return lane + ':' + std::to_string(get(oldest, "offset")) +
         (attempt > 0 ? " (attempt " + std::to_string(attempt) + ')' : "");
}

double silent_seconds(const Json& lane) { return lane.value("silent_seconds", 0.0); }

std::string detail_of(const Json& lane, const std::string& name) {
  const auto& oldest = lane.at("oldest");
  std::vector<std::string> parts;
  if (const auto held = lane.value("held_by", ""); !held.empty() && held != "suspended")
    parts.push_back("held: " + held);
  if (!oldest.is_null() && oldest.contains("error") && !is_last_error(lane, get(oldest, "offset")))
    parts.push_back(record_text(oldest, name) + ": " + oldest["error"].get<std::string>());
  if (const auto silent = silent_seconds(lane); silent > 0)
    parts.push_back("silent for " + dlq::age_text(static_cast<std::int64_t>(silent * 1000)) +
                    ": its log has more records, and none are delivered");
  if (const auto error = lane.value("source_error", ""); !error.empty())
    parts.push_back("cannot be read: " + error);
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? name + ' ' : "; ") + part;
  return text;
}

/// "orders:3 12 dead letters; last error at 2026-01-02T14:02:11.007Z, orders:3:17 (attempt 8): HTTP 500"
std::string failures_of(const Json& lane, const std::string& name) {
  std::string text;
  if (const auto letters = lane.value("dead_letters", std::int64_t{0}); letters > 0)
    text = count(letters, "dead letter");
  const auto last = lane.value("last_error", Json());
  if (last.is_object())
    text += (text.empty() ? "last error at " : "; last error at ") + last.value("time", "") + ", " +
            last.value("record", "") + " (attempt " + std::to_string(get(last, "attempt")) +
            "): " + last.value("error", "");
  return text.empty() ? text : name + ' ' + text;
}

std::string state_of(const Json& lane) {
  const auto state = lane.at("state").get<std::string>();
  if (get(lane, "stuck") > 0) return "stuck";
  if (lane.value("suspended", false) && state != "draining") return "suspended";
  return silent_seconds(lane) > 0 && state == "running" ? "silent" : state;
}

Trouble trouble_of(const Json& lane, const Row& row, const std::set<Partition>& not_ready) {
  if (row.state == "stuck") return Trouble::stuck;
  if (row.state == "silent") return Trouble::silent;
  if (not_ready.contains(row.partition)) return Trouble::not_ready;
  if (row.state == "suspended") return Trouble::suspended;
  const auto& oldest = lane.at("oldest");
  const bool failed = !oldest.is_null() && oldest.contains("error");
  return failed && oldest.value("age_seconds", 0.0) >= long_blocked ? Trouble::blocked : Trouble::none;
}

std::string age_of(const Json& oldest) {
  if (oldest.is_null()) return "-";
  return dlq::age_text(static_cast<std::int64_t>(oldest.value("age_seconds", 0.0) * 1000));
}

Row row_of(const Json& lane, const std::set<Partition>& not_ready) {
  Row row;
  row.partition = {lane.at("topic").get<std::string>(), get(lane, "partition")};
  row.name = row.partition.first + ':' + std::to_string(row.partition.second);
  row.state = state_of(lane);
  row.trouble = trouble_of(lane, row, not_ready);
  row.lag = get(lane, "lag");
  const auto column = [&](const char* field, std::size_t width) {
    return right(number(get(lane, field), width), width) + ' ';
  };
  row.numbers = column("lag", 5) + column("in_flight", 7) + column("queued", 6) +
                column("waiting_retries", 7) + right(age_of(lane.at("oldest")), 6) + ' ' +
                column("finished_beyond_commit", 6) + rate(lane, "rate", 5) + ' ' +
                rate(lane, "dead_letter_rate", 6);
  row.detail = detail_of(lane, row.name);
  row.failures = failures_of(lane, row.name);
  return row;
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
  auto out = style.columns == 0 ? text : cell(text, style.columns);
  out.erase(out.find_last_not_of(' ') + 1);
  return out + '\n';
}

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Some lines of words, of which the last one is cut; outside a terminal, one whole line.
std::string wrapped(const std::string& text, const TableStyle& style, std::size_t most = most_lines) {
  std::istringstream words(delivery::clean_text(text, most_text));
  std::vector<std::string> lines(1);
  for (std::string word; words >> word;) {
    auto& last = lines.back();
    const auto length = characters(last) + 1 + characters(word);
    if (last.empty() || style.columns == 0 || length <= style.columns || lines.size() == most)
      last += (last.empty() ? "" : " ") + word;
    else
      lines.push_back("  " + word);
  }
  std::string out;
  for (const auto& part : lines) out += line(part, style);
  return out;
}

/// How calls fail, while most of them work. In an outage, a reason of the readiness has it.
std::string downstream_of(const Json& breaker, const TableStyle& style) {
  if (!breaker.is_object() || !breaker.value("since", Json()).is_null()) return "";
  const auto failures = breaker.value("failures", "");
  return failures.empty()
             ? ""
             : wrapped("the downstream " + breaker.value("downstream", "") + ' ' + failures, style);
}

std::vector<std::string> heading(const Json& status, std::size_t lane_width, const TableStyle& style) {
  std::vector<std::string> lines;
  const bool ready = status.at("ready").get<bool>();
  lines.push_back(wrapped(
      "laneway " + status.at("version").get<std::string>() + ", group " +
          status.at("group").get<std::string>() + ", up " +
          dlq::age_text(static_cast<std::int64_t>(status.at("uptime_seconds").get<double>() * 1000)) + ", " +
          count(get(status, "members"), "member") + ", " +
          count(static_cast<std::int64_t>(status.at("lanes").size()), "lane") + (ready ? ", ready" : ""),
      style));
  for (const auto& reason : status.at("reasons"))
    lines.push_back(
        coloured(wrapped("NOT READY: " + reason.at("text").get<std::string>(), style), "\033[31m", style));
  if (auto words = downstream_of(status.at("breaker"), style); !words.empty())
    lines.push_back(std::move(words));
  if (lines.size() > 1 + most_details) {
    const auto more = lines.size() - most_details;
    lines.resize(most_details);
    lines.push_back("and " + std::to_string(more) + " more reasons (--json)\n");
  }
  lines.emplace_back("\n");
  lines.push_back(lane_cell("lane", lane_width) +
                  " state       lag running queued waiting oldest beyond rec/s dead/s\n");
  return lines;
}

/// Trouble first, by its kind; else by topic and partition, so that a lane keeps its place.
std::vector<Row> sorted_rows(const Json& status) {
  std::set<Partition> not_ready;
  for (const auto& reason : status.at("reasons"))
    if (reason.contains("topic"))
      not_ready.emplace(reason.at("topic").get<std::string>(), get(reason, "partition"));
  std::vector<Row> rows;
  for (const auto& lane : status.at("lanes")) rows.push_back(row_of(lane, not_ready));
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::tie(b.trouble, a.partition) < std::tie(a.trouble, b.partition);
  });
  return rows;
}

/// "and 31 lanes more, with a lag of 12": the rows that are not shown.
std::string rest_text(const std::vector<Row>& rows, std::size_t shown) {
  std::int64_t lag = 0;
  for (std::size_t i = shown; i < rows.size(); ++i) lag += std::max<std::int64_t>(rows[i].lag, 0);
  return "and " + count(static_cast<std::int64_t>(rows.size() - shown), "lane") + " more, with a lag of " +
         std::to_string(lag) + '\n';
}

/// The lines below the table: the lanes' troubles and failures, and the advice.
std::vector<std::string> details_of(const Json& status, const std::vector<Row>& rows,
                                    const TableStyle& style) {
  std::vector<std::string> details;
  for (const auto& row : rows)
    if (!row.detail.empty() && details.size() < most_details)
      details.push_back(wrapped(row.detail, style, most_lane_lines));
  const auto most = details.size() + most_failures;
  for (const auto& row : rows)
    if (!row.failures.empty() && details.size() < most)
      details.push_back(wrapped(row.failures, style, most_lane_lines));
  const auto advice = status.value("advice", Json::array());
  for (std::size_t i = 0; i < advice.size() && i < most_advice; ++i)
    details.push_back(wrapped("advice: " + advice[i].get<std::string>(), style));
  return details;
}

std::size_t height(const std::vector<std::string>& parts) {
  std::size_t lines = 0;
  for (const auto& part : parts)
    lines += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
  return lines;
}

std::string render(const Json& status, const TableStyle& style) {
  const auto rows = sorted_rows(status);
  const auto lane_width = lane_width_of(rows, style);
  auto lines = heading(status, lane_width, style);
  auto details = details_of(status, rows, style);
  const std::size_t besides = 3;  // the cursor, "and … more", the blank above the details
  const auto least = height(lines) + besides + std::min(rows.size(), fewest_rows);
  while (style.rows > 0 && !details.empty() && least + height(details) > style.rows) details.pop_back();
  const auto rest = height(lines) + height(details) + (details.empty() ? besides - 1 : besides);
  const std::size_t room = style.rows == 0 ? rows.size() : std::max<std::size_t>(style.rows, rest + 1) - rest;
  for (std::size_t i = 0; i < rows.size() && i < room; ++i)
    lines.push_back(lane_cell(rows[i].name, lane_width) + ' ' +
                    coloured(cell(rows[i].state, 9), colour(rows[i]), style) + ' ' + rows[i].numbers + '\n');
  if (room < rows.size()) lines.push_back(rest_text(rows, room));
  if (!details.empty()) lines.emplace_back("\n");
  std::string text;
  for (const auto& part : lines) text += part;
  for (const auto& part : details) text += part;
  return text;
}

}  // namespace

std::optional<std::string> render_status(const std::string& status, const TableStyle& style) {
  try {
    return render(parse_outside_json(status), style);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace laneway::control
