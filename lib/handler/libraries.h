// What this room stands on.
#pragma once

#include <vector>

#include "base/library.h"

namespace laneway::handler {

std::vector<Library> libraries();

}  // namespace laneway::handler
