// Which dead letters a person means. Pure, but for the clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/dlq/letter.h"
#include "base/result.h"

namespace laneway::dlq {

/// What is not set lets everything through; of what is set, all must fit.
struct Filter {
  struct HeaderWish {
    std::string name;
    std::optional<std::string> value;  ///< nothing: any
  };
  std::string origin;                        ///< topic
  std::optional<std::int32_t> partition;     ///< of the origin, else of the dead-letter topic
  std::optional<std::int64_t> since, until;  ///< [since, until) of failed_at(), ms since 1970
  std::string reason;                        ///< part of reason_of(), whether small letters or capitals
  std::vector<HeaderWish> headers;

  bool lets_through(const Letter& letter) const;
};

/// The wall clock, in ms since 1970.
std::int64_t now_ms();
/// "2026-11-21", "2026-11-21T10:30", "2026-11-21T10:30:05" (UTC, with or without Z), or a duration: so long
/// before `now`. In ms since 1970.
Result<std::int64_t> parse_time(std::string_view text, std::int64_t now);
/// "name=value", or "name" for any value.
Filter::HeaderWish parse_header_wish(std::string_view text);

}  // namespace laneway::dlq
