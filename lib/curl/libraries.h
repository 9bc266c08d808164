// The outside libraries that this module uses.
#pragma once

#include <vector>

#include "base/library.h"

namespace laneway::curl {

std::vector<Library> libraries();

}  // namespace laneway::curl
