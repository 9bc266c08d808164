// What a person sees while the demo runs: a table that is drawn again and again on a terminal that has room
// for it, else lines.
//
// One thread. Writes to standard output, and waits as long as that does.
#pragma once

#include <deque>
#include <string>

#include "app/demo/observer.h"
#include "base/time.h"

namespace laneway::demo {

inline constexpr std::size_t screen_width = 80;

/// Lines for a terminal, `events` below the table; none is wider than screen_width. Pure.
std::string render_table(Duration at, const Rows& rows, const std::deque<std::string>& events);
/// The same in one line for a pipe. Pure.
std::string render_line(Duration at, const Rows& rows);

class Screen {
 public:
  Screen();

  void event(Duration at, const std::string& text);
  /// Shows the rows when the last time is long enough ago, or when this is the `last` time.
  void show(Duration at, const Rows& rows, bool last = false);
  /// Nobody reads standard output any more.
  bool gone() const;

 private:
  const bool live_;
  Duration next_show_{};
  std::deque<std::string> events_;  // only where the table is live
  std::size_t height_ = 0;          // of the table on the terminal; 0: none
};

}  // namespace laneway::demo
