// Writes log entries with fields to systemd's journal, in its native protocol
// (https://systemd.io/JOURNAL_NATIVE_PROTOCOL). libsystemd's own call waits without bound for a journal that
// does not read; this class does not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/time.h"
#include "telemetry/field.h"

namespace laneway::telemetry {

inline constexpr const char* journal_socket = "/run/systemd/journal/socket";

/// Whether a stream with this device and inode is the one to the journal, by the variable JOURNAL_STREAM
/// ("device:inode"). Pure.
bool is_journal_stream(std::string_view variable, std::uint64_t device, std::uint64_t inode);
/// Whether standard error goes to the journal.
bool standard_error_is_journal();

/// The datagram for one event: MESSAGE is the line of the text format without time and level, so that
/// journalctl shows the usual line; additionally PRIORITY, SYSLOG_IDENTIFIER, and each field as LANEWAY_NAME.
/// Pure.
std::string journal_entry(Level level, std::string_view message, Fields fields);

/// One thread at a time.
class JournalSocket {
 public:
  explicit JournalSocket(std::string path, Duration patience = milliseconds(200));
  /// Returns false if the journal did not take the entry: there is no journal, the entry is too large, or the
  /// journal does not read within the patience. After a failure, further entries do not wait at all until one
  /// is taken.
  bool send(std::string_view entry);

 private:
  bool connect();
  bool writable() const;

  const std::string path_;
  const Duration patience_;
  Descriptor socket_;
  bool blocked_ = false;
};

}  // namespace laneway::telemetry
