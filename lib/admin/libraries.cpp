#include "admin/libraries.h"

#include <httplib.h>

namespace laneway::admin {

std::vector<Library> libraries() { return {{"cpp-httplib", CPPHTTPLIB_VERSION}}; }

}  // namespace laneway::admin
