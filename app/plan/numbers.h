// Numbers as people read them. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace laneway::plan {

/// "20,000", "2.4", "0.04", "0.0017": one digit after the point if the number is not whole, two digits below
/// a tenth.
std::string number(double value);
std::string number(std::uint64_t value);

/// "3.7MiB": a rounded number of bytes.
std::string about(double bytes);

/// "9.52us", "14.9ms", "5s", "52m": three digits, without zeros at the end.
std::string about(Duration duration);

}  // namespace laneway::plan
