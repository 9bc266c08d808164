// The rows of the table for routing and named pools: route, pools. Private to this folder.
#pragma once

#include <vector>

#include "config/property.h"

namespace laneway::config {

void add_pool_properties(std::vector<Property>& table);

}  // namespace laneway::config
