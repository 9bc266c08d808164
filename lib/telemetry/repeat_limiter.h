// Decides which of many similar messages to print: the first few of a window, then a count. Pure; the caller
// passes the time and guards the limiter against other threads.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace laneway::telemetry {

class RepeatLimiter {
 public:
  struct Limits {
    std::uint32_t most = 5;         ///< messages of one key in a window
    Duration window = seconds(10);  ///< from the first message of a key
    std::size_t keys = 256;         ///< with more keys, messages of new keys are counted together
  };
  struct Repeated {
    std::string key;
    std::uint64_t left_out = 0;
  };

  RepeatLimiter() : RepeatLimiter(Limits{}) {}
  explicit RepeatLimiter(Limits limits) : limits_(limits) {}

  /// Whether to print another message of `key`. Digits do not distinguish keys ("after 5ms" equals "after
  /// 12ms").
  bool admit(std::string_view key, TimePoint now);
  /// Forgets the windows that are over (with `everything`, all) and returns what was left out in them.
  std::vector<Repeated> take_over(TimePoint now, bool everything = false);

 private:
  struct Window {
    TimePoint began;
    std::uint64_t seen = 0;
  };

  Limits limits_;
  std::map<std::string, Window, std::less<>> windows_;
};

}  // namespace laneway::telemetry
