// Which dead letters a command is about. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/place.h"
#include "app/dlq/letter.h"
#include "base/result.h"

namespace laneway::dlq {

/// A field that is not set lets every letter through. A letter must fit every field that is set.
struct Filter {
  struct HeaderWish {
    std::string name;
    std::optional<std::string> value;  ///< nullopt: any value
  };
  std::optional<cli::Place> origin;          ///< topic, partition or record
  std::optional<std::int32_t> partition;     ///< of the origin; of the dead-letter topic if that is unknown
  std::optional<std::int64_t> since, until;  ///< [since, until) of failed_at(), ms since 1970
  std::string reason;                        ///< part of reason_of(), case-insensitive
  std::vector<HeaderWish> headers;

  bool lets_through(const Letter& letter) const;
};

/// Accepts "2026-11-21", "2026-11-21T10:30", "2026-11-21T10:30:05" (UTC, with or without Z), or a duration
/// before `now`. Returns ms since 1970.
Result<std::int64_t> parse_time(std::string_view text, std::int64_t now);
/// Accepts "name=value", or "name" for any value.
Filter::HeaderWish parse_header_wish(std::string_view text);

}  // namespace laneway::dlq
