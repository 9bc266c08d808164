// POST /lanes/{topic}/{partition}/pause|resume|skip, /lanes/{topic}/pause|resume and /reload as requests to
// the service. Pure.
#pragma once

#include <map>
#include <string>
#include <variant>

#include "admin/authorization.h"
#include "service/control.h"

namespace laneway::admin {

/// Whether a path is one of these; what is wrong with the rest of it is the next function's.
bool is_control_path(const std::string& path);

/// `parameters` are those of the query; `body` is empty or JSON: { "offset": 17, "reason": "…" }. Refusals:
/// 404 for a path that is none, 400 for the rest.
std::variant<service::ControlRequest, Refusal> parse_control(
    const std::string& path, const std::multimap<std::string, std::string>& parameters,
    const std::string& body);

inline constexpr const char* reload_path = "/reload";

struct ReloadRequest {
  bool dry_run = false;  ///< say what would change, and change nothing
};

/// `dry_run`, in the query or in the body as above, is 1 or 0. Refusal: 400.
std::variant<ReloadRequest, Refusal> parse_reload(const std::multimap<std::string, std::string>& parameters,
                                                  const std::string& body);

}  // namespace laneway::admin
