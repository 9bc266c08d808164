// The arithmetic of sizes that `laneway plan` and the advice of `laneway status` share.
//
// Workers should be busy for 70 % of the time, so that bursts and slow moments find idle workers; so should
// connections and processors. Pure.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "config/schema/schema.h"

namespace laneway::service {

inline constexpr double utilisation = 0.7;

/// How many must be there so that `busy` are busy on average; not rounded.
inline double with_headroom(double busy) { return busy / utilisation; }

/// The next whole number; an error of floating point is not rounded up.
inline std::uint64_t rounded_up(double number) {
  return static_cast<std::uint64_t>(std::ceil(number - 1e-9));
}

/// The largest value that `laneway check` allows for the setting.
inline std::uint64_t most_of(std::string_view setting) { return config::find_property(setting)->most; }

}  // namespace laneway::service
