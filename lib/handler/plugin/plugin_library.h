// The file of a plugin: whether it may be loaded, and its table of functions (include/laneway/plugin.h).
//
// A plugin is code of this process, so its file must not be one that others can put there: its path is
// absolute, the file and all folders above it belong to root or to the user of this process, and not
// everybody may write to one of them (but a folder in which everybody may write and only owners may remove,
// as /tmp, is no danger). The same holds for the folders of links that lead to it. What is loaded is the file
// that was checked, by its path without links, which only root and that user can make lead to another file.
//
// Errors: configuration. Threads: any. Blocks while files are read. What was loaded stays until the process
// ends.
#pragma once

#include <string>

#include "base/result.h"
#include "laneway/plugin.h"

namespace laneway::handler {

/// Looks at the file without running anything of it; its path without links.
Result<std::string> check_plugin_file(const std::string& path);

/// Loads it, which runs its initialisers, and asks for its table.
Result<laneway_plugin> load_plugin(const std::string& path);

/// The table as this version of laneway knows it: what an older plugin does not have is zero. `path` is for
/// messages.
Result<laneway_plugin> checked_table(const laneway_plugin* table, const std::string& path);

}  // namespace laneway::handler
