// The property handler.http.statuses: what statuses of a web service mean. Pure. Private to this folder.
#pragma once

#include "config/property.h"

namespace laneway::config {

Property statuses_property();

}  // namespace laneway::config
