// The display of the demo: a table that is redrawn on a terminal with enough room, otherwise lines.
//
// Threads: one. Blocks as long as standard output blocks.
#pragma once

#include <deque>
#include <string>

#include "app/demo/observer.h"
#include "base/time.h"

namespace laneway::demo {

inline constexpr std::size_t screen_width = 80;

/// Lines for a terminal, with `events` below the table. No line is wider than screen_width. Pure.
std::string render_table(Duration at, const Rows& rows, const std::deque<std::string>& events);
/// The same as one line, for a pipe. Pure.
std::string render_line(Duration at, const Rows& rows);

class Screen {
 public:
  Screen();

  void event(Duration at, const std::string& text);
  /// Shows the rows if the last call that did so is long enough ago, or if this is the `last` call.
  void show(Duration at, const Rows& rows, bool last = false);
  /// True if the reader of standard output has gone.
  bool gone() const;

 private:
  const bool live_;
  Duration next_show_{};
  std::deque<std::string> events_;  // only if the table is redrawn
  std::size_t height_ = 0;          // of the table on the terminal; 0: no table yet
};

}  // namespace laneway::demo
