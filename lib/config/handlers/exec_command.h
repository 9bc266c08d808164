// From the command as it is written in handler.exec.command to the program and the arguments that are
// started.
//
//   python3                      the first executable file of that name in the folders of PATH
//   ./handle, scripts/handle     a file, seen from the folder of the configuration file
//   work.py as an argument       the absolute path of that file, if the folder of the configuration file has
//                                such a file; other arguments stay as they are
//
// A script that an interpreter such as python3 would not find is a problem; its other arguments are its own.
// The working directory has no part in it, so a command means the same to `check` in a shell and to the
// service. Reads directories; otherwise pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace laneway::config {

/// What the meaning of a command depends on beside its words.
struct CommandPlace {
  std::string folder;               ///< of the configuration file
  std::optional<std::string> path;  ///< the variable PATH; nullopt if it is not set
};

struct CommandProblem {
  std::string what;
  std::string hint;
};

/// Replaces the program and the arguments as described above. Returns the problem if the program does not
/// exist or cannot be executed, or if the script of an interpreter does not exist.
std::optional<CommandProblem> resolve_command(std::vector<std::string>& command, const CommandPlace& place);

/// Why this user cannot execute the file at this path; nullopt if the file can be executed.
std::optional<CommandProblem> why_not_executable(const std::string& program);

/// The command in one line, for people. Words that are not plain stand in quotes.
std::string shown_command(const std::vector<std::string>& command);

}  // namespace laneway::config
