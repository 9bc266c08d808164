// Why a login fails, as a sentence that says what to do. Private to this folder. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace laneway::kafka {

/// A sentence for an error text of the library, of any release from 2.0.2 on. nullopt if the text is not
/// about a login.
std::optional<std::string> login_trouble(std::string_view words);

/// Whether the text is a broker's refusal, and not a failure before a broker was asked.
bool refused_by_broker(std::string_view words);

}  // namespace laneway::kafka
