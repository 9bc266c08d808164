// Why a login fails, in words that say what to do. Private to this folder. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace laneway::kafka {

/// A sentence for the library's words, of any release from 2.0.2 on; nothing where these are not about a
/// login.
std::optional<std::string> login_trouble(std::string_view words);

/// Whether these words tell what a broker answered, and not what failed before one was asked.
bool refused_by_broker(std::string_view words);

}  // namespace laneway::kafka
