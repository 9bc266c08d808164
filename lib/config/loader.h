// From a file, the environment and --set to a Config, or to everything that is wrong with them.
//
// Precedence: file < LANEWAY_A__B=c < --set a.b=c. In the file's values ${NAME} is replaced from the
// environment; for a client key that is a secret, <key>_file names the file that holds it. An error names its
// place (file:line:column, the variable, or --set), the key, what was found and what would be right. Secrets
// and what variables hold are not shown. Reads the named files; otherwise pure, so the caller passes the
// environment in. Any thread.
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
  /// The program does the work itself: no handler may be set.
  bool own_handler = false;
};

struct Loaded {
  /// Set if and only if there are no errors.
  std::optional<Config> config;
  /// In the order of their places. The kind is usage for --set, no_input for a file that cannot be read, else
  /// configuration.
  std::vector<Error> errors;
  /// For the log: allowed, but seldom meant.
  std::vector<std::string> warnings;

  /// For the exit code, with errors: usage before no_input before configuration.
  ErrorKind kind() const;
};

Loaded load(const Source& source);

/// The same for a text that is in memory; source.file is its name in messages.
Loaded load_text(std::string_view text, const Source& source);

/// One line for each of at most 50 errors, then how many more there are.
std::string report(const std::vector<Error>& errors);

/// The process's environment, for Source.
std::map<std::string, std::string> process_environment();

}  // namespace laneway::config
