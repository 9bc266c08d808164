// From a file, the environment and --set to a Config, or to the list of all problems with them.
//
// Precedence: file < LANEWAY_A__B=c < --set a.b=c. In the file's values ${NAME} is replaced from the
// environment; for a client key that is a secret, <key>_file names the file with the secret. An error names
// its place (file:line:column, the variable, or --set), the key, the value that was found and the expected
// value. Secrets and the contents of variables are not shown. Reads the named files, and looks up the program
// of handler.exec.command; otherwise pure, so the caller passes the environment in. Any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config.h"

namespace laneway::config {

struct Source {
  std::string file;
  /// The arguments of --set: "lanes.workers=16".
  std::vector<std::string> sets;
  std::map<std::string, std::string> environment;
  /// The program does the work itself, so no handler may be set.
  bool own_handler = false;
  /// Whether this process runs the handler. If not, handler.exec.command stays as it is written: the program
  /// may be missing where an operator asks a service, or reads dead letters.
  bool runs_handler = true;
  /// Whether the settings must be complete. If not, keys may be missing that the environment or the command
  /// line of another process has.
  bool complete = true;
};

struct Loaded {
  /// Set if and only if `errors` is empty.
  std::optional<Config> config;
  /// In the order of their places. The kind is usage for --set, no_input for a file that cannot be read, and
  /// configuration for all others.
  std::vector<Error> errors;
  /// For the log: settings that are allowed but rarely intended.
  std::vector<std::string> warnings;

  /// The kind for the exit code, if there are errors: usage before no_input before configuration.
  ErrorKind kind() const;
};

Loaded load(const Source& source);

/// The same for a text in memory; source.file is the name of the text in messages.
Loaded load_text(std::string_view text, const Source& source);

/// One line for each of at most 50 errors, then the number of further errors.
std::string report(const std::vector<Error>& errors);

/// The process's environment, for Source.
std::map<std::string, std::string> process_environment();

}  // namespace laneway::config
