// The file of a plugin: checks whether it may be loaded, and returns its table of functions
// (include/laneway/plugin.h).
//
// A plugin is code that runs in this process, so nobody else may be able to replace its file. Its path is
// absolute, the file and all folders above it belong to root or to the user of this process, and none of them
// is writable for everybody (a folder in which everybody may write but only owners may remove, such as /tmp,
// is allowed). The same applies to the folders of symbolic links that lead to the file. The loaded file is
// the checked file, by its path without links, which only root and that user can change.
//
// Errors: configuration. Threads: any. Blocks while files are read. A loaded library stays loaded until the
// process ends.
#pragma once

#include <string>

#include "base/result.h"
#include "laneway/plugin.h"

namespace laneway::handler {

/// Checks the file without running any of its code. Returns its path without links.
Result<std::string> check_plugin_file(const std::string& path);

/// Loads the library, which runs its initialisers, and gets its table.
Result<laneway_plugin> load_plugin(const std::string& path);

/// The table in the layout of this version of laneway: fields that an older plugin does not have are zero.
/// `path` is for messages.
Result<laneway_plugin> checked_table(const laneway_plugin* table, const std::string& path);

}  // namespace laneway::handler
