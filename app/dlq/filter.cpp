#include "app/dlq/filter.h"

#include <time.h>

#include <algorithm>

#include "config/text.h"
#include "config/units.h"

namespace laneway::dlq {
namespace {

bool has(const delivery::Headers& headers, const Filter::HeaderWish& wish) {
  return std::any_of(headers.begin(), headers.end(), [&](const delivery::Header& header) {
    return header.name == wish.name && (!wish.value || header.value == wish.value);
  });
}

std::int32_t partition_of(const Letter& letter) {
  if (letter.description && letter.description->partition >= 0) return letter.description->partition;
  return letter.record.partition();
}

bool comes_from(const Letter& letter, const cli::Place& origin) {
  if (!letter.description) return false;
  const auto& about = *letter.description;
  return about.topic == origin.topic && about.partition == origin.partition.value_or(about.partition) &&
         about.offset == origin.offset.value_or(about.offset);
}

}  // namespace

bool Filter::lets_through(const Letter& letter) const {
  if (origin && !comes_from(letter, *origin)) return false;
  if (partition && *partition != partition_of(letter)) return false;
  if (since && failed_at(letter) < *since) return false;
  if (until && failed_at(letter) >= *until) return false;
  if (config::lower(reason_of(letter)).find(config::lower(reason)) == std::string::npos) return false;
  return std::all_of(headers.begin(), headers.end(),
                     [&](const HeaderWish& wish) { return has(letter.headers, wish); });
}

Result<std::int64_t> parse_time(std::string_view text, std::int64_t now) {
  std::string date(text);
  if (date.ends_with('Z')) date.pop_back();
  for (const char* form : {"%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"}) {
    tm parts{};
    const char* rest = ::strptime(date.c_str(), form, &parts);
    if (rest != nullptr && *rest == '\0') return std::int64_t{::timegm(&parts)} * 1000;
  }
  if (const auto ago = config::parse_duration(text); ago.ok())
    return now - duration_cast<milliseconds>(*ago).count();
  return Error{
      ErrorKind::usage, "'" + std::string(text) + "' is not a time",
      "write a date such as 2026-11-21 or 2026-11-21T10:30:00Z (UTC), or how long ago, such as 90m or 24h"};
}

Filter::HeaderWish parse_header_wish(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == text.npos) return {std::string(text), {}};
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

}  // namespace laneway::dlq
