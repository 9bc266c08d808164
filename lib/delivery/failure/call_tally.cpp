#include "delivery/failure/call_tally.h"

#include <algorithm>

namespace laneway::delivery {
namespace {

constexpr std::size_t longest_kind = 60;
static_assert(call_outcomes.size() == static_cast<std::size_t>(CallOutcome::other) + 1, "a name for each");

std::int64_t second_of(TimePoint at) { return duration_cast<seconds>(at.time_since_epoch()).count(); }

void leave_out(std::string& text, const std::string& part) {
  if (const auto at = text.find(part); at != std::string::npos) text.erase(at, part.size());
}

}  // namespace

std::uint32_t CallReport::failed_percent() const {
  if (failed == 0) return 0;
  if (failed >= calls) return 100;
  const double share = 100.0 * static_cast<double>(failed) / static_cast<double>(calls);
  return static_cast<std::uint32_t>(std::clamp(share + 0.5, 1.0, 99.0));
}

std::string words_of(const CallReport& report) {
  if (report.failed == 0) return "fails for no call";
  const bool few = report.failed * 100 < report.calls;
  const auto percent = few ? "less than 1" : std::to_string(report.failed_percent());
  std::string text = "fails for " + percent + " % of calls: ";
  const char* separator = "";
  for (const auto& kind : report.kinds) {
    text += separator + kind.name + " (" + std::to_string(kind.calls) + ')';
    separator = ", ";
  }
  return text;
}

std::string failure_kind(std::string_view reason, std::string_view downstream) {
  std::string kind(reason.substr(0, std::min(reason.find(": "), reason.find("; "))));
  if (!downstream.empty())
    for (const auto* before : {" from ", " to "}) leave_out(kind, before + std::string(downstream));
  if (kind.size() <= longest_kind) return kind;
  const auto end = kind.rfind(' ', longest_kind);  // words stay whole
  kind.resize(end == kind.npos || end == 0 ? longest_kind : end);
  if (kind.ends_with(',')) kind.pop_back();
  return kind;
}

CallOutcome outcome_of(std::string_view kind) {
  if (kind.starts_with("HTTP 3")) return CallOutcome::http_3xx;
  if (kind.starts_with("HTTP 4")) return CallOutcome::http_4xx;
  if (kind.starts_with("HTTP 5")) return CallOutcome::http_5xx;
  return kind == timeout_kind ? CallOutcome::timeout : CallOutcome::other;
}

void CallTally::succeeded(TimePoint now, std::uint64_t calls) {
  if (calls == 0) return;
  slice_of(now).succeeded += calls;
  totals_[static_cast<std::size_t>(CallOutcome::success)] += calls;
}

void CallTally::failed(TimePoint now, std::string_view kind) {
  ++slice_of(now).failed[index_of(kind, now)];
  ++totals_[static_cast<std::size_t>(outcome_of(kind))];
}

/// A second that began before `since` may include earlier calls: only its failures count then, because an
/// outage begins with a failure.
CallReport CallTally::report(TimePoint now, std::optional<TimePoint> since) const {
  CallReport report;
  std::array<std::uint64_t, most_kinds + 1> failed{};
  for (const auto& slice : slices_) {
    if (!recent(slice, now) || (since && slice.second < second_of(*since))) continue;
    const bool partly = since && slice.second == second_of(*since);
    if (!partly) report.calls += slice.succeeded;
    for (std::size_t i = 0; i < failed.size(); ++i) failed[i] += slice.failed[i];
  }
  for (std::size_t i = 0; i < failed.size(); ++i) {
    if (failed[i] == 0) continue;
    report.kinds.push_back({i == other ? "other" : kinds_[i], failed[i]});
    report.failed += failed[i];
  }
  report.calls += report.failed;
  std::stable_sort(report.kinds.begin(), report.kinds.end(),
                   [](const auto& a, const auto& b) { return a.calls > b.calls; });
  return report;
}

CallTally::Slice& CallTally::slice_of(TimePoint now) {
  const auto second = second_of(now);
  auto& slice = slices_[static_cast<std::size_t>(second) % slices];
  if (slice.second != second) slice = Slice{.second = second};
  return slice;
}

std::size_t CallTally::index_of(std::string_view kind, TimePoint now) {
  if (const auto known = std::find(kinds_.begin(), kinds_.end(), kind); known != kinds_.end())
    return static_cast<std::size_t>(known - kinds_.begin());
  for (std::size_t i = 0; i < most_kinds; ++i) {
    if (!unused(i, now)) continue;
    kinds_[i] = kind;
    return i;
  }
  return other;
}

bool CallTally::recent(const Slice& slice, TimePoint now) const {
  return slice.second >= 0 && slice.second > second_of(now - length);
}

bool CallTally::unused(std::size_t kind, TimePoint now) const {
  return std::none_of(slices_.begin(), slices_.end(),
                      [&](const Slice& slice) { return recent(slice, now) && slice.failed[kind] > 0; });
}

}  // namespace laneway::delivery
