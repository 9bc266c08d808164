#include "lane/commit/stored_commit.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

namespace laneway::lane {
namespace {

constexpr std::string_view name_of_suspects = "failed=";

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || value < 0) return std::nullopt;
  return value;
}

/// Takes "name=number " off the front.
template <class Number>
std::optional<Number> take(std::string_view& text, std::string_view name) {
  const auto space = text.find(' ');
  if (!text.starts_with(name) || space == text.npos) return std::nullopt;
  const auto value = number_of<Number>(text.substr(name.size(), space - name.size()));
  if (value) text.remove_prefix(space + 1);
  return value;
}

/// Takes a marker off the front. Leaves text that is no marker unchanged.
LifeMarker take_marker(std::string_view& text) {
  auto rest = text;
  const auto lives = take<std::uint32_t>(rest, "lives=");
  if (!lives || *lives == 0) return {};
  LifeMarker marker;
  marker.lives = *lives;
  marker.suspect = take<std::int64_t>(rest, "suspect=");
  if (marker.suspect) {
    const auto deaths = take<std::uint32_t>(rest, "deaths=");
    if (!deaths) return {};
    marker.deaths = *deaths;
  } else {
    marker.among = take<std::uint32_t>(rest, "among=").value_or(0);
  }
  while (const auto id = take<ProcessId>(rest, "by=")) marker.by.push_back(*id);
  text = rest;
  return marker;
}

struct Field {
  std::string_view name;
  std::string_view value;
};

/// Takes a field off the front; nullopt if the text does not begin with a field.
std::optional<Field> take_field(std::string_view& text) {
  const auto space = text.find(' ');
  const auto equals = text.find('=');
  if (space == text.npos || equals == 0 || equals > space) return std::nullopt;
  const Field field{text.substr(0, equals), text.substr(equals + 1, space - equals - 1)};
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  if (!std::all_of(field.name.begin(), field.name.end(), is_letter)) return std::nullopt;
  text.remove_prefix(space + 1);
  return field;
}

/// Empty if the text makes no sense.
std::vector<std::int64_t> suspects_of(std::string_view text, std::int64_t base) {
  std::vector<std::int64_t> offsets;
  for (auto offset = base; offset >= 0;) {
    const auto comma = text.find(',');
    const auto distance = number_of<std::int64_t>(text.substr(0, comma));
    if (!distance || *distance < (offsets.empty() ? 0 : 1)) return {};
    if (*distance > std::numeric_limits<std::int64_t>::max() - offset) return {};
    offsets.push_back(offset += *distance);
    if (comma == text.npos) break;
    text.remove_prefix(comma + 1);
  }
  return offsets;
}

void set_field(StoredCommit& commit, const Field& field) {
  if (field.name == "topic") commit.log.topic = field.value;
  if (field.name == "cluster") commit.log.cluster = field.value;
  if (field.name == "failed") commit.suspects = suspects_of(field.value, commit.offset);
  if (field.name != "suspended" && field.name != "resumed") return;
  if (const auto at = number_of<std::int64_t>(field.value))
    commit.suspension = {field.name == "suspended", *at};
}

std::string text_of(const LifeMarker& marker) {
  if (marker.lives == 0) return {};
  std::string text = "lives=" + std::to_string(marker.lives) + ' ';
  if (marker.suspect)
    text += "suspect=" + std::to_string(*marker.suspect) + " deaths=" + std::to_string(marker.deaths) + ' ';
  else if (marker.among > 0)
    text += "among=" + std::to_string(marker.among) + ' ';
  for (const auto id : marker.by) text += "by=" + std::to_string(id) + ' ';
  return text;
}

/// The topic if it is known, and otherwise the cluster.
std::string text_of(const LogName& log) {
  if (!log.topic.empty()) return "topic=" + log.topic + ' ';
  return log.cluster.empty() ? std::string() : "cluster=" + log.cluster + ' ';
}

std::string text_of(const std::optional<Suspension>& suspension) {
  if (!suspension) return {};
  return (suspension->suspended ? "suspended=" : "resumed=") + std::to_string(suspension->at_ms) + ' ';
}

/// The first suspects from `base` on, as far as they fit.
std::string text_of(const std::vector<std::int64_t>& suspects, std::int64_t base, std::size_t most) {
  std::string text(name_of_suspects);
  auto last = base;
  for (const auto offset : suspects) {
    if (offset < base) continue;
    const auto distance = std::to_string(offset - last);
    if (text.size() + distance.size() + 1 > most) break;
    text += distance + ',';
    last = offset;
  }
  if (text.size() == name_of_suspects.size()) return {};
  text.back() = ' ';
  return text;
}

/// Without a map, suspects and a suspension, nothing has to name the log. Suspects that do not fit are taken
/// for records that an outage may have stopped. The lane holds if a whole map is too long: suspects must not
/// be the reason for that.
std::string text_of(const StoredCommit& commit, std::size_t most, bool whole) {
  const auto marker = text_of(commit.lives);
  const auto decision = text_of(commit.suspension);
  const auto named = marker + text_of(commit.log) + decision;
  auto suspects = text_of(commit.suspects, commit.offset, most / 4);
  const auto fields = named.size() + suspects.size();
  const auto map = encode(commit.map, whole ? max_map_bytes : most - std::min(most, fields));
  if (whole && fields + map.size() > most) suspects.clear();
  const bool suspended = commit.suspension && commit.suspension->suspended;
  const bool names_log = !map.empty() || !suspects.empty() || suspended;
  auto text = names_log ? named + suspects + map : marker + decision;
  if (!map.empty() || text.size() <= most) return text;
  return decision.size() <= most ? decision : std::string();  // some brokers accept hardly any metadata
}

std::optional<std::string> differs(const char* what, const std::string& written, const std::string& own) {
  if (written == own) return std::nullopt;
  const auto begin = std::string("written for another ") + what + ", with the id " + written;
  if (own.empty())
    return std::string("written for the ") + what + " with the id " + written + ", and the id of this " +
           what + " could not be read";
  return begin + "; this " + what + " has the id " + own;
}

}  // namespace

StoredCommit StoredCommit::read(const kafka::CommittedOffset& committed) {
  StoredCommit commit{.partition = committed.partition,
                      .offset = std::max(committed.offset, kafka::no_offset),
                      .topic_id = committed.topic_id};
  if (committed.metadata.empty()) return commit;
  std::string_view text = committed.metadata;
  commit.lives = take_marker(text);
  while (const auto field = take_field(text)) set_field(commit, *field);
  auto decoded = decode(text, commit.offset);
  if (decoded.map) commit.map = std::move(*decoded.map);
  commit.map_error = std::move(decoded.reason);
  return commit;
}

kafka::CommittedOffset StoredCommit::written(std::size_t most, bool whole) const {
  const bool nothing = map.runs.empty() && suspects.empty() && !suspension && lives.lives == 0;
  return {partition, offset, nothing ? std::string() : text_of(*this, most, whole)};
}

std::optional<std::string> foreign(const LogName& stored, const LogName& own) {
  if (!stored.topic.empty()) return differs("topic", stored.topic, own.topic);
  if (!stored.cluster.empty()) return differs("cluster", stored.cluster, own.cluster);
  return std::nullopt;
}

}  // namespace laneway::lane
