#include "lane/shared/crash_watch.h"

#include <algorithm>
#include <utility>

namespace laneway::lane {
namespace {

constexpr std::size_t most_ids = 8;     // in a marker
constexpr std::uint32_t growth = 4;     // of a group that has finished
constexpr std::uint32_t largest = 256;  // group
constexpr std::uint32_t parts = 16;     // of a group in which a process died

}  // namespace

LifeMarker outlived(const LifeMarker& marker, ProcessId self) {
  const bool here = self != 0 && std::find(marker.by.begin(), marker.by.end(), self) != marker.by.end();
  return here ? LifeMarker{} : marker;
}

CrashWatch::CrashWatch(const LifeMarker& before, std::uint32_t max_crashes, ProcessId self)
    : before_(outlived(before, self)),
      max_crashes_(max_crashes),
      self_(self),
      marker_(before_),
      careful_(before_.lives >= careful_from),
      group_(std::max(before_.among / parts, 1U)) {}

/// The marker of this life once it has begun.
LifeMarker CrashWatch::this_life() const {
  LifeMarker marker;
  marker.lives = std::min(before_.lives, 1'000'000U) + 1;  // a higher number carries no information
  marker.by = before_.by;
  if (self_ != 0) marker.by.push_back(self_);
  if (marker.by.size() > most_ids) marker.by.erase(marker.by.begin());
  return marker;
}

void CrashWatch::become(LifeMarker marker) {
  if (marker == marker_) return;
  marker_ = std::move(marker);
  ++version_;
}

void CrashWatch::begin() {
  if (begun_ || ended_) return;
  begun_ = true;
  become(this_life());
}

void CrashWatch::progressed() {
  if (careful_ || ended_) return;
  before_ = {};
  become(begun_ ? this_life() : LifeMarker{});
}

void CrashWatch::suspect(std::int64_t first, std::uint32_t records) {
  begun_ = true;
  at_work_ = first;
  auto marker = this_life();
  if (records == 1) {
    marker.suspect = first;
    marker.deaths = before_.suspect == first ? before_.deaths + 1 : 0;
  } else {
    marker.among = records;
  }
  // A new version even if the marker is equal: the commit also records the progress of the groups before.
  marker_ = std::move(marker);
  ++version_;
}

std::uint32_t CrashWatch::crashes(std::int64_t offset) const {
  return before_.suspect == offset ? before_.deaths + 2 : 0;
}

void CrashWatch::survived(std::uint32_t records) {
  if (!careful_) return;
  through_ += records;
  const bool before_suspect =
      before_.suspect && (at_work_ < *before_.suspect || (at_work_ == *before_.suspect && records == 0));
  const bool suspicious = through_ < before_.among || before_suspect;
  if (!suspicious) {
    ++groups_;
    group_ = std::min(group_ * growth, largest);
  }
  if (through_ >= careful_records || groups_ >= careful_groups) relax();
}

void CrashWatch::relax() {
  careful_ = false;
  progressed();
}

void CrashWatch::end_cleanly() {
  if (ended_) return;
  become(left_behind());
  ended_ = true;
}

}  // namespace laneway::lane
