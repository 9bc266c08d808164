#include "pool/worker_slots.h"

#include <algorithm>

#include "pool/service_time.h"

namespace laneway::pool {
namespace {

constexpr std::uint32_t most_replaced = 64;

}  // namespace

WorkerSlots::WorkerSlots(std::uint32_t workers, Duration job_deadline, Duration stuck_after)
    : job_deadline_(job_deadline), stuck_after_(stuck_after), workers_(workers) {
  provide();
}

void WorkerSlots::resize(std::uint32_t workers) {
  workers_ = workers;
  provide();
}

Claim WorkerSlots::take(const Range& range, std::uint32_t weight, TimePoint now) {
  WorkerSlot& slot = *free_.back();
  free_.pop_back();
  slot.in_use = true;
  ++in_use_;
  slot.range = range;
  slot.weight = weight;
  slot.progress(0);
  slot.first_ticket = slot.next_ticket;
  slot.next_ticket += range.count();
  slot.started = now;
  return {range, &slot, slot.first_ticket};
}

void WorkerSlots::give_back(WorkerSlot& slot) {
  slot.in_use = false;
  --in_use_;
  stuck_ -= slot.stuck;
  replaced_ -= slot.replaced;
  (free_.size() + in_use_ < most() ? free_ : spare_).push_back(&slot);
  slot.stuck = false;
  slot.replaced = false;
}

std::vector<Range> WorkerSlots::expire(TimePoint now) {
  std::vector<Range> stuck;
  for (WorkerSlot& slot : slots_) {
    if (!slot.at_work()) continue;
    if (now - slot.started > ServiceTime::longest_claim) slot.want_back(slot.first_ticket);
    if (slot.expires(now, job_deadline_)) {
      slot.stop.stop_up_to(slot.seen_ticket);
      ++expired_;
    }
    if (!slot.gets_stuck(now, job_deadline_, stuck_after_)) continue;
    stuck.push_back(slot.job());
    replace(slot);
  }
  return stuck;
}

void WorkerSlots::want_all_back() {
  for (WorkerSlot& slot : slots_)
    if (slot.at_work()) slot.want_back(slot.first_ticket);
}

void WorkerSlots::stop_all() {
  for (WorkerSlot& slot : slots_) slot.stop.stop_up_to(StopState::all);
}

std::vector<Range> WorkerSlots::in_flight() const {
  std::vector<Range> ranges;
  for (const WorkerSlot& slot : slots_)
    if (slot.at_work()) ranges.push_back(slot.range);
  return ranges;
}

void WorkerSlots::replace(WorkerSlot& slot) {
  ++stuck_;
  if (replaced_ >= std::min(workers_, most_replaced)) return;
  slot.replaced = true;
  ++replaced_;
  provide();
}

/// Provides as many free slots as are allowed.
void WorkerSlots::provide() {
  while (free_.size() + in_use_ > most() && !free_.empty()) {
    spare_.push_back(free_.back());
    free_.pop_back();
  }
  while (free_.size() + in_use_ < most()) {
    if (spare_.empty()) spare_.push_back(&slots_.emplace_back());
    free_.push_back(spare_.back());
    spare_.pop_back();
  }
}

}  // namespace laneway::pool
