#include "lane/crash_watch.h"

#include <charconv>

namespace laneway::lane {
namespace {

/// Takes "name=number " off the front.
template <class Number>
std::optional<Number> take(std::string_view& text, std::string_view name) {
  if (text.substr(0, name.size()) != name) return {};
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + name.size(), end, value);
  if (error != std::errc() || rest == end || *rest != ' ' || value < 0) return {};
  text.remove_prefix(static_cast<std::size_t>(rest + 1 - text.data()));
  return value;
}

}  // namespace

std::string encode(const LifeMarker& marker) {
  if (marker.lives == 0) return {};
  std::string text = "lives=" + std::to_string(marker.lives) + ' ';
  if (marker.suspect)
    text += "suspect=" + std::to_string(*marker.suspect) + " deaths=" + std::to_string(marker.deaths) + ' ';
  return text;
}

LifeMarker take_marker(std::string_view& metadata) {
  auto rest = metadata;
  const auto lives = take<std::uint32_t>(rest, "lives=");
  if (!lives) return {};
  LifeMarker marker{*lives, {}, 0};
  marker.suspect = take<std::int64_t>(rest, "suspect=");
  if (marker.suspect) {
    const auto deaths = take<std::uint32_t>(rest, "deaths=");
    if (!deaths) return {};
    marker.deaths = *deaths;
  }
  metadata = rest;
  return marker;
}

CrashWatch::CrashWatch(const LifeMarker& before, std::uint32_t max_crashes)
    : before_(before), max_crashes_(max_crashes) {
  if (!watches()) return;
  marker_ = before;
  // Beyond, it says nothing new.
  if (marker_.lives < 1'000'000) ++marker_.lives;
  careful_ = before.lives >= careful_from;
  if (!careful_) marker_ = {marker_.lives, {}, 0};
  version_ = 1;
}

void CrashWatch::become(const LifeMarker& marker) {
  if (marker == marker_) return;
  marker_ = marker;
  ++version_;
}

void CrashWatch::progressed() {
  if (watches() && !careful_ && !ended_) become({1, {}, 0});
}

void CrashWatch::suspect(std::int64_t offset) {
  become({marker_.lives, offset, before_.suspect == offset ? before_.deaths + 1 : 0});
}

std::uint32_t CrashWatch::crashes(std::int64_t offset) const {
  return before_.suspect == offset ? before_.deaths + 2 : 0;
}

void CrashWatch::survived() {
  if (careful_ && ++through_ >= careful_records) relax();
}

void CrashWatch::relax() {
  careful_ = false;
  progressed();
}

void CrashWatch::end_cleanly() {
  if (!watches() || ended_) return;
  become(left_behind());
  ended_ = true;
}

}  // namespace laneway::lane
