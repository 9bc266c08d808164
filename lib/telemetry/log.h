// The service's log: one line per event, to standard error, as key=value text or JSON; or one entry per
// event, with fields, to the journal.
//
//   ts=2026-01-02T03:04:05.678Z level=info msg="lane held" topic=orders partition=3 error="pool full"
//
// Time is UTC. The common fields are printed in the order topic, partition, offset, epoch, attempt,
// duration_ms, outcome, error, whatever order the caller used; other fields precede outcome and error.
// Control characters are escaped, so that no value can fake a line; a value longer than 2 KiB is cut.
//
// Threads: everything except set_up_log may be called from any thread. Blocking: a line is written before the
// call returns, so nothing is lost when the process ends. If standard error is a pipe whose reader has
// stopped, the first line waits 200 ms; then lines are dropped and counted, without waiting, until the reader
// goes on ("log lines lost"). Writing to the journal waits in the same way; entries that the journal does not
// take go to standard error. The process must ignore SIGPIPE (main does).
#pragma once

#include <string>
#include <string_view>

#include "telemetry/field.h"

namespace laneway::telemetry {

/// To be called once, before other threads log. Before the call, the log is text at level info. The caller
/// owns `file_descriptor`. `journal`: the path of the journal's socket (telemetry/journal_entry.h); empty:
/// lines only.
void set_up_log(Level level, Format format, int file_descriptor = 2, const std::string& journal = {});
void set_log_level(Level level);
bool log_enabled(Level level);

void log(Level level, std::string_view message, Fields fields = {});
inline void debug(std::string_view message, Fields fields = {}) { log(Level::debug, message, fields); }
inline void info(std::string_view message, Fields fields = {}) { log(Level::info, message, fields); }
inline void warn(std::string_view message, Fields fields = {}) { log(Level::warn, message, fields); }
inline void error(std::string_view message, Fields fields = {}) { log(Level::error, message, fields); }

/// For events that another program, such as the client library, repeats endlessly: at most 5 lines for one
/// `key` (numbers in it do not count) appear in 10 s; the number of omitted lines follows as "repeated" when
/// that time is over. Reasons that may change belong in the key, so that a new reason appears at once; texts
/// that outsiders choose do not.
void log_repeating(Level level, std::string_view key, std::string_view message, Fields fields = {});

/// Reports what log_repeating still holds back. To be called from time to time, and with `everything` at the
/// end.
void flush_log(bool everything = true);

}  // namespace laneway::telemetry
