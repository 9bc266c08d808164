// The program's exit codes, from sysexits.h.
#pragma once

#include "base/result.h"

namespace laneway::app {

namespace exit_code {
inline constexpr int done = 0;  ///< also after a stop before a broker answered
inline constexpr int usage = 64;
inline constexpr int no_input = 66;
inline constexpr int unavailable = 69;
inline constexpr int internal = 70;  ///< internal error, or a fatal error of the client library
inline constexpr int abandoned = 75;
inline constexpr int configuration = 78;
}  // namespace exit_code

constexpr int exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return exit_code::usage;
    case ErrorKind::no_input:
      return exit_code::no_input;
    case ErrorKind::configuration:
      return exit_code::configuration;
    case ErrorKind::unavailable:
    case ErrorKind::exhausted:
    case ErrorKind::timeout:
      return exit_code::unavailable;
    case ErrorKind::fatal:
    case ErrorKind::internal:
      break;
  }
  return exit_code::internal;
}

}  // namespace laneway::app
