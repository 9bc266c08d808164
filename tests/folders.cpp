#include "folders.h"

namespace laneway {

std::string source_folder() { return LANEWAY_SOURCE_FOLDER; }
std::string plugin_folder() { return LANEWAY_PLUGIN_FOLDER; }

}  // namespace laneway
