// The settings of `handler.exec`; the .cpp file has all else that the configuration knows about this handler:
// its keys, its rules, its section of the reference. See handler_schema.h. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

namespace laneway::config {

template <class Alternative>
struct HandlerSchemaOf;

/// How records travel to a program of `handler.exec` and verdicts back; see lib/handler/exec/exec_frame.h.
enum class Framing : std::uint8_t { json, binary };

/// `handler.exec`: a program that stays, and reads records.
struct ExecSettings {
  std::vector<std::string> command;  ///< absolute path and arguments; there is no shell
  Framing framing = Framing::json;
  Duration timeout = seconds(30);
};

HandlerSchemaOf<ExecSettings> exec_schema();

}  // namespace laneway::config
