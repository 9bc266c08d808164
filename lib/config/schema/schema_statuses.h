// The row of the table for handler.http.statuses. Private to this folder.
#pragma once

#include "config/schema/property.h"

namespace laneway::config {

Property statuses_property();

}  // namespace laneway::config
