#include "app/plan/numbers.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace laneway::plan {

std::string number(double value) {
  const bool exact = value >= 100 || std::abs(value - std::round(value)) < 0.05;
  const bool small = value < 0.095 && value >= 1e-6;
  const int after_point = small ? 1 - static_cast<int>(std::floor(std::log10(value))) : exact ? 0 : 1;
  char digits[64];
  std::snprintf(digits, sizeof(digits), "%.*f", after_point, value);
  std::string text(digits);
  const auto point = text.find('.');
  if (small) text.erase(text.find_last_not_of('0') + 1);
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

std::string about(Duration duration) {
  struct Unit {
    const char* name;
    double seconds;
    double most;  // in this unit
  };
  static constexpr std::array<Unit, 6> units{{{"ns", 1e-9, 1e3},
                                              {"us", 1e-6, 1e3},
                                              {"ms", 1e-3, 1e3},
                                              {"s", 1, 600},
                                              {"m", 60, 600},
                                              {"h", 3600, 1e12}}};
  const double value = to_seconds(duration);
  const Unit* unit = units.data();
  // Half a unit of the third digit is rounded up to the next unit: 999.7ms is 1s.
  while (unit != &units.back() && value / unit->seconds >= unit->most * 0.9995) ++unit;
  const double shown = value / unit->seconds;
  char digits[64];
  std::snprintf(digits, sizeof(digits), "%.*f", shown < 9.995 ? 2 : shown < 99.95 ? 1 : 0, shown);
  std::string text(digits);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
  }
  return text + unit->name;
}

}  // namespace laneway::plan
