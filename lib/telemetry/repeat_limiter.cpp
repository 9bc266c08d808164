#include "telemetry/repeat_limiter.h"

namespace laneway::telemetry {
namespace {

std::string without_numbers(std::string_view key) {
  std::string out;
  for (const char c : key) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) out += c;
    if (digit && (out.empty() || out.back() != '#')) out += '#';
  }
  return out;
}

}  // namespace

bool RepeatLimiter::admit(std::string_view key, TimePoint now) {
  std::string name = without_numbers(key);
  if (windows_.size() >= limits_.keys && !windows_.contains(name)) name = "other messages";
  auto& window = windows_.try_emplace(std::move(name), Window{now}).first->second;
  return ++window.seen <= limits_.most;
}

std::vector<RepeatLimiter::Repeated> RepeatLimiter::take_over(TimePoint now, bool everything) {
  std::vector<Repeated> over;
  for (auto at = windows_.begin(); at != windows_.end();) {
    if (!everything && now - at->second.began < limits_.window) {
      ++at;
      continue;
    }
    if (at->second.seen > limits_.most) over.push_back({at->first, at->second.seen - limits_.most});
    at = windows_.erase(at);
  }
  return over;
}

}  // namespace laneway::telemetry
