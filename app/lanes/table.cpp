#include "app/lanes/table.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "app/dlq/print.h"
#include "base/outside_json.h"
#include "delivery/dead_letter.h"

namespace laneway::lanes {
namespace {

using Json = nlohmann::json;
using dlq::cell;

constexpr std::size_t lane_width = 19;
constexpr std::size_t most_details = 6;
constexpr std::size_t most_advice = 3;
constexpr std::size_t most_lines = 4;  // of one reason

struct Row {
  std::string name;
  std::string state;
  int trouble = 0;  // the more, the further up
  std::int64_t lag = -1;
  std::string numbers;
  std::string detail;
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

std::string rate(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return std::char_traits<char>::length(text.data()) <= 6 ? text.data()
                                                          : number(static_cast<std::int64_t>(value), 6);
}

/// A number that may be null or missing.
std::int64_t get(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? -1 : found->get<std::int64_t>();
}

/// The end of a long name tells more.
std::string lane_cell(const std::string& name) {
  if (name.size() <= lane_width) return cell(name, lane_width);
  return "…" + name.substr(name.size() - lane_width + 1);
}

std::string detail_of(const Json& lane, const std::string& name) {
  const auto& oldest = lane.at("oldest");
  std::vector<std::string> parts;
  if (const auto held = lane.value("held_by", ""); !held.empty() && held != "by hand")
    parts.push_back("held: " + held);
  if (!oldest.is_null() && oldest.contains("error"))
    parts.push_back(std::to_string(get(oldest, "offset")) + " (attempt " +
                    std::to_string(get(oldest, "attempts")) + "): " + oldest["error"].get<std::string>());
  if (const auto error = lane.value("source_error", ""); !error.empty())
    parts.push_back("cannot be read: " + error);
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? name + ' ' : "; ") + part;
  return text;
}

int trouble_of(const std::string& state) {
  constexpr std::array order{"running", "assigned", "draining", "by hand", "paused", "held", "stuck"};
  return static_cast<int>(std::find(order.begin(), order.end(), state) - order.begin());
}

Row row_of(const Json& lane) {
  Row row;
  row.name = lane.at("topic").get<std::string>() + '[' + std::to_string(get(lane, "partition")) + ']';
  row.state = lane.at("state").get<std::string>();
  if (lane.at("paused_by_hand").get<bool>() && row.state != "draining") row.state = "by hand";
  if (get(lane, "stuck") > 0) row.state = "stuck";
  row.trouble = trouble_of(row.state);
  row.lag = get(lane, "lag");
  const auto& oldest = lane.at("oldest");
  const auto age = oldest.is_null()
                       ? "-"
                       : dlq::age_text(static_cast<std::int64_t>(oldest.value("age_seconds", 0.0) * 1000));
  row.numbers = right(number(row.lag, 9), 9) + ' ' + right(number(get(lane, "in_flight"), 4), 4) + ' ' +
                right(number(get(lane, "queued"), 5), 5) + ' ' +
                right(number(get(lane, "waiting_retries"), 5), 5) + ' ' + right(age, 6) + ' ' +
                right(number(get(lane, "committed"), 10), 10) + ' ' +
                right(rate(lane.at("rate").get<double>()), 6);
  row.detail = detail_of(lane, row.name);
  return row;
}

const char* colour(const Row& row) {
  if (row.state == "stuck" || row.state == "held") return "\033[31m";      // red
  if (row.state == "paused" || row.state == "by hand") return "\033[33m";  // yellow
  if (row.state == "running") return "\033[32m";                           // green
  return "\033[2m";                                                        // faint
}

std::string coloured(const std::string& text, const char* with, const TableStyle& style) {
  return style.colours ? with + text + "\033[0m" : text;
}

/// One line, as long as it fits.
std::string line(const std::string& text) {
  auto out = cell(text, table_width);
  out.erase(out.find_last_not_of(' ') + 1);
  return out + '\n';
}

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Some lines of words; the last one is cut.
std::string wrapped(const std::string& text) {
  std::istringstream words(delivery::clean_text(text));
  std::vector<std::string> lines(1);
  for (std::string word; words >> word;) {
    auto& last = lines.back();
    const auto length = characters(last) + 1 + characters(word);
    if (last.empty() || length <= table_width || lines.size() == most_lines)
      last += (last.empty() ? "" : " ") + word;
    else
      lines.push_back("  " + word);
  }
  std::string out;
  for (const auto& part : lines) out += line(part);
  return out;
}

std::string count(std::int64_t number, const std::string& noun) {
  return std::to_string(number) + ' ' + noun + (number == 1 ? "" : "s");
}

std::vector<std::string> heading(const Json& status, const TableStyle& style) {
  std::vector<std::string> lines;
  const bool ready = status.at("ready").get<bool>();
  lines.push_back(
      line("laneway " + status.at("version").get<std::string>() + ", group " +
           status.at("group").get<std::string>() + ", up " +
           dlq::age_text(static_cast<std::int64_t>(status.at("uptime_seconds").get<double>() * 1000)) + ", " +
           count(get(status, "members"), "member") + ", " +
           count(static_cast<std::int64_t>(status.at("lanes").size()), "lane") + (ready ? ", ready" : "")));
  for (const auto& reason : status.at("reasons"))
    lines.push_back(
        coloured(wrapped("NOT READY: " + reason.at("text").get<std::string>()), "\033[31m", style));
  const auto& breaker = status.at("breaker");
  if (ready && breaker.is_object() && breaker.value("state", "closed") != "closed")
    lines.push_back(
        line("breaker of " + breaker.value("downstream", "") + ": " + breaker.value("state", "")));
  if (lines.size() > 1 + most_details) {
    const auto more = lines.size() - most_details;
    lines.resize(most_details);
    lines.push_back("and " + std::to_string(more) + " reasons more (--json)\n");
  }
  lines.emplace_back("\n");
  lines.push_back(cell("lane", lane_width) +
                  " state          lag work queue retry oldest  committed  rec/s\n");
  return lines;
}

std::vector<Row> sorted_rows(const Json& status) {
  std::vector<Row> rows;
  for (const auto& lane : status.at("lanes")) rows.push_back(row_of(lane));
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.trouble != b.trouble ? a.trouble > b.trouble : a.lag > b.lag;
  });
  return rows;
}

/// What stands below the table: what is the matter with lanes, and what to change.
std::vector<std::string> details_of(const Json& status, const std::vector<Row>& rows) {
  std::vector<std::string> details;
  for (const auto& row : rows)
    if (!row.detail.empty() && details.size() < most_details) details.push_back(line(row.detail));
  const auto advice = status.value("advice", Json::array());
  for (std::size_t i = 0; i < advice.size() && i < most_advice; ++i)
    details.push_back(wrapped("advice: " + advice[i].get<std::string>()));
  return details;
}

std::string render(const Json& status, const TableStyle& style) {
  const auto rows = sorted_rows(status);
  auto lines = heading(status, style);
  const auto details = details_of(status, rows);
  std::size_t rest = details.empty() ? 2 : 3;  // the cursor, "and … more", the blank above the details
  for (const auto& part : details)
    rest += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
  for (const auto& part : lines) rest += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
  const std::size_t room = style.rows == 0 ? rows.size() : std::max<std::size_t>(style.rows, rest + 1) - rest;
  for (std::size_t i = 0; i < rows.size() && i < room; ++i)
    lines.push_back(lane_cell(rows[i].name) + ' ' + coloured(cell(rows[i].state, 8), colour(rows[i]), style) +
                    ' ' + rows[i].numbers + '\n');
  if (room < rows.size())
    lines.push_back("and " + count(static_cast<std::int64_t>(rows.size() - room), "lane") + " more\n");
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

}  // namespace laneway::lanes
