// Checks of numbers for CLI::Option::check(). A check returns what is wrong with the text, or an empty text.
// Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace laneway::cli {

using Check = std::function<std::string(const std::string&)>;

Check whole_number(std::uint64_t least, std::uint64_t most);
Check number(double least, double most);

}  // namespace laneway::cli
