// The settings of `handler.exec`. The .cpp file has the rest of the handler's configuration: keys, rules, and
// the section of the reference. See handler_schema.h. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

namespace laneway::config {

struct HandlerSchema;

/// The format of records and answers; see lib/handler/exec/exec_frame.h.
enum class Framing : std::uint8_t { json, binary };

/// `handler.exec`: a program that keeps running and reads records.
struct ExecSettings {
  /// The program by its absolute path, and its arguments, as exec_command.h resolves them. There is no shell.
  std::vector<std::string> command;
  Framing framing = Framing::json;
  Duration timeout = seconds(30);
  Duration idle = seconds(300);   ///< a program without a record for this time is ended
  std::uint64_t max_records = 0;  ///< a program is replaced after so many records; 0: never
  Duration max_age{};             ///< a program is replaced when it is so old; 0: never
};

HandlerSchema schema_of(const ExecSettings&);

}  // namespace laneway::config
