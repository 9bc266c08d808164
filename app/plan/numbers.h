// Numbers as people read them. Pure.
#pragma once

#include <cstdint>
#include <string>

namespace laneway::plan {

/// 20,000; with one digit after the point where there is no whole number, with two below a tenth.
std::string number(double value);
std::string number(std::uint64_t value);

/// "3.7MiB": about as many bytes.
std::string about(double bytes);

}  // namespace laneway::plan
