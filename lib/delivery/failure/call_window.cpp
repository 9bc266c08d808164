#include "delivery/failure/call_window.h"

#include <algorithm>
#include <utility>

namespace laneway::delivery {
namespace {

bool holds(const std::vector<RecordId>& records, RecordId record) {
  return record != CallWindow::nobody && std::find(records.begin(), records.end(), record) != records.end();
}

}  // namespace

void CallWindow::succeeded(TimePoint now, std::uint64_t records) {
  if (records == 0) return;
  row_.clear();
  last_ = records < few ? last_ << records : 0;
  turn(now);
  // More records would only turn both halves again.
  for (auto left = std::min<std::uint64_t>(records, 2 * half_size); left > 0;) {
    const auto taken = std::min<std::uint64_t>(left, half_size - newer_.records);
    newer_.records += static_cast<std::uint32_t>(taken);
    left -= taken;
    if (newer_.records == half_size) rotate(now);
  }
}

bool CallWindow::failed(TimePoint now, RecordId record) {
  if (row_.empty()) row_since_ = now;
  if (row_.size() < longest_row && !holds(row_, record)) row_.push_back(record);
  turn(now);
  if (holds(older_.failed, record) || holds(newer_.failed, record)) return false;
  if (newer_.failed.empty()) newer_.failing_since = now;
  newer_.failed.push_back(record);
  last_ = last_ << 1 | 1;
  failed_at_[failed_++ % few] = now;
  if (++newer_.records == half_size) rotate(now);
  return true;
}

void CallWindow::clear() {
  older_ = newer_ = {};
  row_.clear();
  last_ = 0;
}

std::uint32_t CallWindow::others_in_a_row(RecordId record) const {
  return in_a_row() - (holds(row_, record) ? 1 : 0);
}

/// Forgets results that are too old.
void CallWindow::turn(TimePoint now) {
  const auto half = length_ / 2;
  if (now - newer_since_ < half) return;
  const bool both = now - newer_since_ >= 2 * half;
  rotate(now);
  if (both) older_ = {};
}

void CallWindow::rotate(TimePoint now) {
  older_ = std::exchange(newer_, {});
  newer_since_ = now;
}

}  // namespace laneway::delivery
