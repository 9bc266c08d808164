// The rows of the table for rates and failures: rate, retry, ledger, dead_letter, breaker. Private to this
// folder.
#pragma once

#include "config/property.h"

namespace laneway::config {

Rows failure_rows();

}  // namespace laneway::config
