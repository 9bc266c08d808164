// Status and readiness as JSON. Pure. Bytes that are not UTF-8 are replaced.
#pragma once

#include <string>

#include "service/service_status.h"

namespace laneway::admin {

/// {"ready":false,"reasons":[{"code":"stalled","topic":"orders","partition":3,"text":"…"}]}
std::string readiness_json(const service::Readiness& readiness);
/// One object; docs and tests list its keys.
std::string status_json(const service::ServiceStatus& status, const std::string& version);

}  // namespace laneway::admin
