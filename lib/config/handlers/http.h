// The keys, the rules and the section of the reference of `handler.http`. Files with secrets and certificates
// are read when their keys are set; otherwise pure.
#pragma once

#include "config/handlers/handler_schema.h"

namespace laneway::config {

HandlerSchema schema_of(const HttpSettings&);

}  // namespace laneway::config
