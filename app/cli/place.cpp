#include "app/cli/place.h"

#include <algorithm>

#include "base/decimal.h"
#include "config/text.h"

namespace laneway::cli {
namespace {

/// Takes the text up to `separator` off the front of `rest`. Returns all of `rest` without a separator.
std::string_view take_until(std::string_view& rest, char separator) {
  const auto at = std::min(rest.find(separator), rest.size());
  const auto part = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return part;
}

/// The brackets of `orders[2]@40` become colons; other text stays.
std::string with_colons(std::string_view text) {
  const auto open = text.find('[');
  const auto close = text.find(']');
  if (open == text.npos || close == text.npos || close < open || text.find(':') != text.npos)
    return std::string(text);
  const auto rest = text.substr(close + 1);
  if (!rest.empty() && rest.front() != '@') return std::string(text);
  std::string plain =
      std::string(text.substr(0, open)) + ':' + std::string(text.substr(open + 1, close - open - 1));
  return rest.empty() ? plain : plain + ':' + std::string(rest.substr(1));
}

}  // namespace

std::optional<Place> parse_place(std::string_view text) {
  const std::string plain = with_colons(text);
  std::string_view rest = plain;
  Place place;
  place.topic = take_until(rest, ':');
  if (place.topic.empty() || !config::is_word(place.topic, "._-")) return std::nullopt;  // as Kafka has them
  if (plain.size() == place.topic.size()) return place;
  const bool with_offset = rest.find(':') != rest.npos;
  place.partition = decimal<std::int32_t>(take_until(rest, ':'));
  if (with_offset) place.offset = decimal<std::int64_t>(rest);
  if (!place.partition || place.offset.has_value() != with_offset) return std::nullopt;
  return place;
}

std::string text_of(const Place& place) {
  std::string text = place.topic;
  if (place.partition) text += ':' + std::to_string(*place.partition);
  if (place.offset) text += ':' + std::to_string(*place.offset);
  return text;
}

}  // namespace laneway::cli
