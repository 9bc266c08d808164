#include "config/libraries.h"

namespace laneway::config {

// The headers do not say their version; the build does.
std::vector<Library> libraries() { return {{"yaml-cpp", LANEWAY_YAML_CPP_VERSION}}; }

}  // namespace laneway::config
