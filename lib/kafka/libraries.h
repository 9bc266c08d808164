// The outside libraries that this module uses.
#pragma once

#include <vector>

#include "base/library.h"

namespace laneway::kafka {

std::vector<Library> libraries();

}  // namespace laneway::kafka
