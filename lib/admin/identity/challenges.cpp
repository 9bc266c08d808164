#include "admin/identity/challenges.h"

#include <cstdint>
#include <optional>
#include <string_view>

#include "admin/identity/authorization.h"
#include "base/decimal.h"

namespace laneway::admin {
namespace {

constexpr Duration good_for = seconds(60);

/// NONCE.END.DIGEST
std::string text_of(const std::string& key, std::string_view nonce, std::string_view end) {
  return std::string(nonce) + '.' + std::string(end) + '.' +
         digest_of(key, {"laneway challenge 1", nonce, end});
}

/// The end of a challenge that this service has given.
std::optional<TimePoint> end_of(const std::string& key, std::string_view challenge) {
  const auto first = challenge.find('.');
  if (first == challenge.npos) return std::nullopt;
  const auto second = challenge.find('.', first + 1);
  if (second == challenge.npos) return std::nullopt;
  const auto end = challenge.substr(first + 1, second - first - 1);
  if (!same_secret(text_of(key, challenge.substr(0, first), end), std::string(challenge)))
    return std::nullopt;
  const auto count = decimal<std::int64_t>(end);
  return count ? std::optional(TimePoint(Duration(*count))) : std::nullopt;
}

}  // namespace

std::string Challenges::give(TimePoint now) const {
  return text_of(key_, new_nonce(), std::to_string((now + good_for).time_since_epoch().count()));
}

bool Challenges::good(const std::string& challenge, TimePoint now) const {
  const auto end = end_of(key_, challenge);
  return end && now <= *end;
}

bool Challenges::use(const std::string& challenge, TimePoint now) {
  const auto end = end_of(key_, challenge);
  if (!end || now > *end) return false;
  MutexLock lock(mutex_);
  std::erase_if(used_, [&](const auto& used) { return used.second < now; });
  return used_.size() < most && used_.emplace(challenge, *end).second;
}

}  // namespace laneway::admin
