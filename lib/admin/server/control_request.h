// Parses POST /lanes/{topic}/{partition}/suspend|resume|skip, /lanes/{topic}/suspend|resume,
// /parked/send-on|give-up and /reload into requests to the service. `pause` is accepted for `suspend`. Pure.
#pragma once

#include <map>
#include <string>
#include <variant>

#include "admin/identity/authorization.h"
#include "service/control.h"

namespace laneway::admin {

/// Whether a path is one of these; parse_control() reports what is wrong with the rest of the path.
bool is_control_path(const std::string& path);

/// `parameters` are those of the query; `body` is empty or JSON: { "offset": 17, "reason": "…" }. Refusals:
/// 404 for an unknown path, 400 for everything else.
std::variant<service::ControlRequest, Refusal> parse_control(
    const std::string& path, const std::multimap<std::string, std::string>& parameters,
    const std::string& body);

inline constexpr const char* reload_path = "/reload";

struct ReloadRequest {
  bool dry_run = false;  ///< report what would change, and change nothing
};

/// `dry_run` is 1 or 0, in the query or in the body as above. Refusal: 400.
std::variant<ReloadRequest, Refusal> parse_reload(const std::multimap<std::string, std::string>& parameters,
                                                  const std::string& body);

}  // namespace laneway::admin
