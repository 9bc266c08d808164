#include "app/plan/numbers.h"

#include <cmath>
#include <cstdio>

namespace laneway::plan {

std::string number(double value) {
  const bool exact = value >= 100 || std::abs(value - std::round(value)) < 0.05;
  const bool small = value < 0.095 && value >= 0.005;
  char digits[64];
  std::snprintf(digits, sizeof(digits), "%.*f", small ? 2 : exact ? 0 : 1, value);
  std::string text(digits);
  const auto point = text.find('.');
  for (auto at = static_cast<std::ptrdiff_t>(point == std::string::npos ? text.size() : point) - 3; at > 0;
       at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string number(std::uint64_t value) { return number(static_cast<double>(value)); }

std::string about(double bytes) {
  const char* unit = " bytes";
  for (const char* larger : {"KiB", "MiB", "GiB", "TiB"}) {
    if (bytes < 1024) break;
    bytes /= 1024;
    unit = larger;
  }
  return number(bytes) + unit;
}

}  // namespace laneway::plan
