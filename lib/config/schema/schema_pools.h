// The rows of the table for routing and named pools: route, pools. Private to this folder.
#pragma once

#include "config/property.h"

namespace laneway::config {

Rows rows_of_pools();

}  // namespace laneway::config
