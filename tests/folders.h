// Where tests find files. Only folders.cpp is compiled with these paths.
#pragma once

#include <string>

namespace laneway {

/// The root of the sources, without a slash at the end.
std::string source_folder();
/// Of the plugins of tests/handler/plugins.
std::string plugin_folder();

}  // namespace laneway
