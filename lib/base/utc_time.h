// Wall-clock time in text for people, in UTC. Times are ms since 1970, not negative.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>

namespace laneway {

inline std::string utc_text(std::int64_t ms, const char* format) {
  const std::time_t whole = ms / 1000;
  std::tm parts{};
  if (::gmtime_r(&whole, &parts) == nullptr) return std::to_string(ms) + " ms";
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format, &parts)};
}

/// "2026-01-02T14:02:11.123Z"
inline std::string utc_time(std::int64_t ms) {
  std::array<char, 8> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03dZ", static_cast<int>(ms % 1000));
  return utc_text(ms, "%Y-%m-%dT%H:%M:%S") + fraction.data();
}

/// "14:02:11Z"; for another day than that of `now` "2026-01-02 14:02:11Z".
inline std::string utc_clock(std::int64_t ms, std::int64_t now) {
  constexpr std::int64_t day = 86400 * 1000;
  return utc_text(ms, ms / day == now / day ? "%H:%M:%SZ" : "%Y-%m-%d %H:%M:%SZ");
}

}  // namespace laneway
