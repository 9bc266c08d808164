// The service's log: one line an event, to standard error, as key=value text or JSON; or one entry an event,
// with fields, to the journal.
//
//   ts=2026-01-02T03:04:05.678Z level=info msg="lane held" topic=orders partition=3 error="pool full"
//
// Time is UTC. Fields of the common names come in the order topic, partition, offset, epoch, attempt,
// duration_ms, outcome, error, whatever order the caller used; others precede outcome and error. Control
// characters are escaped, so that no value can fake a line; a value longer than 2 KiB is cut.
//
// Threads: everything but set_up_log may be called from any thread.
// Blocking: a line is written before the call returns, so nothing is lost when the process ends. Where
// standard error is a pipe whose reader has stopped, the first line waits 200 ms; then lines are dropped and
// counted, without waiting, until the reader goes on ("log lines lost"). The journal is waited for in the
// same way; what it does not take goes to standard error. The process must ignore SIGPIPE (main does).
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "base/time.h"

namespace laneway::telemetry {

enum class Level : std::uint8_t { trace, debug, info, warn, error };
enum class Format : std::uint8_t { text, json };

/// A name with a value; views, so it lives no longer than the call it is an argument of. Without a name it is
/// left out.
class Field {
 public:
  using Value = std::variant<std::string_view, std::int64_t, std::uint64_t, double, bool>;

  Field(std::string_view field_name, std::string_view v) : name(field_name), value(v) {}
  Field(std::string_view field_name, const char* v) : name(field_name), value(std::string_view(v)) {}
  Field(std::string_view field_name, const std::string& v) : name(field_name), value(std::string_view(v)) {}
  Field(std::string_view field_name, bool v) : name(field_name), value(v) {}
  Field(std::string_view field_name, double v) : name(field_name), value(v) {}
  template <std::signed_integral T>
  Field(std::string_view field_name, T v) : name(field_name), value(static_cast<std::int64_t>(v)) {}
  template <std::unsigned_integral T>
  Field(std::string_view field_name, T v) : name(field_name), value(static_cast<std::uint64_t>(v)) {}
  /// In milliseconds, to the microsecond; the name should end in _ms.
  Field(std::string_view field_name, Duration v)
      : name(field_name), value(static_cast<double>(duration_cast<microseconds>(v).count()) / 1000.0) {}

  std::string_view name;
  Value value;
};

using Fields = std::initializer_list<Field>;

/// Once, before other threads log. Before it, the log is text at info. `file_descriptor` stays the caller's.
/// `journal`: the path of the journal's socket (telemetry/journal_entry.h); empty: lines only.
void set_up_log(Level level, Format format, int file_descriptor = 2, const std::string& journal = {});
void set_log_level(Level level);
bool log_enabled(Level level);

void log(Level level, std::string_view message, Fields fields = {});
inline void debug(std::string_view message, Fields fields = {}) { log(Level::debug, message, fields); }
inline void info(std::string_view message, Fields fields = {}) { log(Level::info, message, fields); }
inline void warn(std::string_view message, Fields fields = {}) { log(Level::warn, message, fields); }
inline void error(std::string_view message, Fields fields = {}) { log(Level::error, message, fields); }

/// For events that another program repeats without end, such as the client library's: of one `key` (numbers
/// in it do not count) at most 5 lines appear in 10 s; how many were left out follows as "repeated" when that
/// time is over. Reasons that may change belong into the key, so that a new one appears at once; texts that
/// strangers choose do not.
void log_repeating(Level level, std::string_view key, std::string_view message, Fields fields = {});

/// Reports what log_repeating still holds back. Call it from time to time, and with `everything` at the end.
void flush_log(bool everything = true);

}  // namespace laneway::telemetry
