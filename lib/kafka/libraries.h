// The outside libraries that this module uses.
#pragma once

#include <vector>

#include "base/library.h"

namespace laneway::kafka {

std::vector<Library> libraries();

/// Whether the client fetches as many compressed bytes as fill its buffers when they are decompressed (patch
/// 13 of the bundled client). Other clients decompress all that they fetched.
bool fetches_by_decompressed_size();

}  // namespace laneway::kafka
