// `handler.log`: prints each record to standard output, for people to look at.
//
//   orders:3:42 2026-01-02T03:04:05.678Z key=c17 value={"id":1}
//   orders:3:43 - tombstone
//
// A line has the topic, partition and offset; the record's time in UTC, or - if it has none; the key, in
// double quotes unless it is one plain word, omitted if null; then the value up to the end of the line, or
// the word tombstone if the value is null. Control characters and bytes that are not UTF-8 are escaped (\n,
// \xNN; a backslash is doubled).
//
// Threads: any number; a line is written completely before the next one. Blocks while the reader of standard
// output does, until the attempt is stopped. If standard output cannot be written (the reader is gone, the
// disk is full), the answer is unavailable: the record is not lost. The process must ignore SIGPIPE.
#pragma once

#include <string>
#include <string_view>

#include "base/mutex.h"
#include "handler/handler.h"

namespace laneway::handler {

/// The line that describes a record, without a line break.
std::string describe_record(const Content& record);

class LogHandler final : public RecordHandler {
 public:
  /// The descriptor remains the caller's.
  explicit LogHandler(int file_descriptor = 1) : file_descriptor_(file_descriptor) {}

  std::string name() const override { return "log"; }

 protected:
  Outcome handle_record(const Attempt& attempt) override;

 private:
  class Turn;

  Outcome write_line(std::string_view line, StopToken stop);

  const int file_descriptor_;
  Mutex mutex_;
  Condition released_;
  bool writing_ GUARDED_BY(mutex_) = false;  // the thread that set it owns inside_line_ and the descriptor
  bool inside_line_ = false;                 // the last write left a line unfinished
};

}  // namespace laneway::handler
