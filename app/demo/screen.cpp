#include "app/demo/screen.h"

#include <algorithm>
#include <cstdio>

#include "app/cli/terminal.h"

namespace laneway::demo {
namespace {

using lane::State;

constexpr std::size_t events_shown = 8;
constexpr std::size_t table_height = 1 + partitions + 1 + 1 + events_shown;
constexpr Duration redraw = milliseconds(125);
constexpr Duration line_interval = seconds(1);

template <class... T>
std::string format(const char* pattern, T... values) {
  char text[160];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

/// A terminal of unknown size has at least 80 × 24.
bool has_room() {
  const auto rows = cli::terminal_rows();
  return cli::draws_on_terminal() && cli::terminal_columns() >= screen_width &&
         (rows == 0 || rows > table_height);
}

const char* colour(State state) {
  switch (state) {
    case State::running:
      return "\033[32m";  // green
    case State::held:
      return "\033[33m";  // yellow
    case State::paused:
      return "\033[31m";  // red
    case State::draining:
      return "\033[36m";  // cyan
    case State::assigned:
    case State::revoked:
      break;
  }
  return "\033[2m";  // faint
}

std::string state_cell(const Row& row) {
  if (!row.state) return format("%-9s", "-");
  return colour(*row.state) + format("%-9s", lane::name_of(*row.state)) + "\033[0m";
}

Row sum(const Rows& rows) {
  Row total;
  total.committed = 0;
  for (const auto& row : rows) {
    total.produced += row.produced;
    total.done += row.done;
    total.queued += row.queued;
    total.in_flight += row.in_flight;
    total.committed += std::max<std::int64_t>(row.committed, 0);
    total.holds += row.holds;
    total.pauses += row.pauses;
  }
  return total;
}

std::string numbers(const Row& row) {
  const auto number = [](auto value) { return static_cast<unsigned long long>(value); };
  return format("%7llu %6llu %7llu %7llu %9llu %7llu %7llu", number(row.lag()), number(row.queued),
                number(row.in_flight), number(row.done), number(std::max<std::int64_t>(row.committed, 0)),
                number(row.holds), number(row.pauses));
}

std::string states(const Rows& rows) {
  std::string text;
  for (const State state : {State::running, State::held, State::paused, State::draining})
    if (const auto count =
            std::count_if(rows.begin(), rows.end(), [&](const Row& row) { return row.state == state; });
        count > 0)
      text += format("  %s %d", lane::name_of(state), static_cast<int>(count));
  return text.empty() ? "  no lanes" : text;
}

std::string event_line(Duration at, const std::string& text) {
  return format("%5.1f s  ", to_seconds(at)) + text;
}

void write(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

std::string render_table(Duration at, const Rows& rows, const std::deque<std::string>& events) {
  std::string text = format("%5.1f s member %-9s%7s %6s %7s %7s %9s %7s %7s\n", to_seconds(at), "state",
                            "lag", "queued", "running", "done", "committed", "holds", "pauses");
  for (std::size_t p = 0; p < rows.size(); ++p) {
    const Row& row = rows[p];
    const std::string member = row.member == 0 ? "-" : std::to_string(row.member);
    text += format("lane %-2d %-6s ", static_cast<int>(p), member.c_str()) + state_cell(row) + numbers(row) +
            '\n';
  }
  text += format("%-24s", "all") + numbers(sum(rows)) + "\n\n";
  for (std::size_t i = 0; i < events_shown; ++i)
    text += (i < events.size() ? events[i].substr(0, screen_width) : "") + '\n';
  return text;
}

std::string render_line(Duration at, const Rows& rows) {
  const Row total = sum(rows);
  return event_line(
             at, format("produced %llu  done %llu  committed %lld  lag %llu",
                        static_cast<unsigned long long>(total.produced),
                        static_cast<unsigned long long>(total.done), static_cast<long long>(total.committed),
                        static_cast<unsigned long long>(total.lag())) +
                     "  " + states(rows)) +
         '\n';
}

Screen::Screen() : live_(has_room()) {}

void Screen::event(Duration at, const std::string& text) {
  const auto line = event_line(at, text);
  if (!live_) return write(line + '\n');
  events_.push_back(line);
  if (events_.size() > events_shown) events_.pop_front();
}

void Screen::show(Duration at, const Rows& rows, bool last) {
  if (at < next_show_ && !last) return;
  next_show_ = at + (live_ ? redraw : line_interval);
  if (!live_) return write(render_line(at, rows));
  // Each line is cleared before it is written: clearing after a full line would delete its last character.
  std::string frame = height_ == 0 ? "" : format("\r\033[%zuA\033[K", height_);
  for (const char c : render_table(at, rows, events_)) {
    frame += c;
    if (c == '\n') frame += "\033[K";
  }
  height_ = table_height;
  write(frame);
}

bool Screen::gone() const { return std::ferror(stdout) != 0; }

}  // namespace laneway::demo
